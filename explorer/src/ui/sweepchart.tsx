/** The charts of a sweep: curves, maps of two keys, where single runs lie, paired differences. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Container } from "../data/container";
import { type Chosen, differencesOf, isScattered, linesOf, type Sweep, upOf } from "../data/sweep";
import { CanvasSurface } from "../draw/canvas";
import type { Palette } from "../draw/palette";
import type { Surface } from "../draw/surface";
import { count } from "../draw/units";
import { nameOf, save, savePicture } from "../export/write";
import { drawCurves } from "../panels/curves";
import { drawDifferences, MOST_PAIRS, pairsHeight } from "../panels/differences";
import { drawMap, mapHeight, mapsOf, MOST_MAPS } from "../panels/heatmap";
import { MOST_LINES, type Spot } from "../panels/measured";
import { drawScatter } from "../panels/scatter";
import { drawSpread, spreadOf } from "../panels/spread";
import { failed, palette, store } from "../view/app";
import { CHARTS, type ChartKind } from "../view/place";
import { csvOf, type Shown } from "./sweeptables";

const HEIGHT = 400;
/** How near to a mark the pointer has to be. */
const REACH = 24;

export const CHART_WORDS: Record<ChartKind, string> = { curves: "curves", map: "map", runs: "single runs", pairs: "paired differences" };

/** Charts that there is something for. */
export function chartsOf(sweep: Sweep, chosen: Chosen): ChartKind[] {
  const has: Record<ChartKind, boolean> = {
    curves: true,
    map: upOf(sweep, chosen) !== null,
    runs: true,
    pairs: differencesOf(sweep, chosen).length > 0,
  };
  return CHARTS.filter((kind) => has[kind]);
}

interface Props extends Shown {
  kind: ChartKind;
}

export function Chart({ sweep, chosen, kind }: Props): preact.JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const spots = useRef<Spot[]>([]);
  const [over, hover] = useState<Spot | null>(null);
  const runs = useRuns(sweep, chosen, kind);
  const colours = palette.value;
  const which = JSON.stringify(chosen);
  const paint = (s: Surface, palette: Palette): Spot[] => {
    if (kind === "map") {
      const up = upOf(sweep, chosen);
      s.rect(0, 0, s.width, s.height, palette.background);
      if (up === null) return [];
      return (isScattered(sweep, chosen, up) ? drawScatter : drawMap)(s, palette, sweep, chosen, up);
    }
    if (kind === "pairs") return drawDifferences(s, palette, sweep, chosen);
    if (kind === "runs") return runs === null ? [] : drawSpread(s, palette, sweep, chosen, runs);
    return drawCurves(s, palette, sweep, chosen);
  };
  useEffect(() => {
    const box = host.current;
    const on = canvas.current;
    if (box === null || on === null) return;
    hover(null);
    const draw = (): void => {
      if (box.clientWidth < 50) return;
      const tall = heightOf(kind, box.clientWidth, sweep, chosen);
      box.style.height = `${tall}px`;
      spots.current = paint(new CanvasSurface(on, box.clientWidth, tall, devicePixelRatio || 1), colours);
    };
    const watch = new ResizeObserver(draw);
    watch.observe(box);
    return () => watch.disconnect();
  }, [sweep, which, kind, colours, runs]);
  const move = (event: PointerEvent): void => {
    const bounds = canvas.current?.getBoundingClientRect();
    if (bounds !== undefined) hover(under(spots.current, event.clientX - bounds.left, event.clientY - bounds.top));
  };
  const write = (what: "png" | "svg"): void => {
    const width = host.current?.clientWidth ?? 900;
    const height = heightOf(kind, width, sweep, chosen);
    const picture = { width, height, draw: (s: Surface) => void paint(s, palette.value) };
    savePicture(picture, what, fileOf(sweep, chosen, kind, what), heading(sweep, chosen, kind), palette.value).catch(failed);
  };
  const limit = limitWords(sweep, chosen, kind, runs);
  return (
    <>
      {limit !== null && <p class="quiet">{limit}</p>}
      <div class="curves" ref={host}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${heading(sweep, chosen, kind)}; the tables below say the same.`}
          onPointerMove={move}
          onPointerLeave={() => hover(null)}
        />
        {over !== null && (
          <div class="tip" style={{ left: `${over.x}px`, top: `${over.y}px` }} data-side={over.x > 500 ? "left" : "right"}>
            <span>{over.words}</span>
          </div>
        )}
      </div>
      <p class="tools">
        <span class="switch" role="group" aria-label="Save the chart">
          <button type="button" onClick={() => write("png")}>
            PNG
          </button>
          <button type="button" onClick={() => write("svg")}>
            SVG
          </button>
          <button type="button" onClick={() => save(fileOf(sweep, chosen, "curves", "csv"), csvOf(sweep, chosen), "text/csv")}>
            CSV of the table
          </button>
        </span>
      </p>
    </>
  );
}

/** Where single runs of a measure lie, once they are asked for; null until they are there. */
function useRuns(sweep: Sweep, { measure }: Chosen, kind: ChartKind): Container | null {
  const [found, set] = useState<{ measure: number; runs: Container } | null>(null);
  useEffect(() => {
    if (kind !== "runs") return;
    store.peek()?.blob(`runs/${sweep.measures[measure].column}`).then((runs) => set({ measure, runs }), failed);
  }, [sweep, measure, kind]);
  return found !== null && found.measure === measure ? found.runs : null;
}

function heightOf(kind: ChartKind, width: number, sweep: Sweep, chosen: Chosen): number {
  if (kind === "map") return mapHeight(width, sweep, chosen);
  return kind === "pairs" ? pairsHeight(width, sweep, chosen) : HEIGHT;
}

/** An area that holds the pointer, else the nearest mark. */
function under(spots: readonly Spot[], x: number, y: number): Spot | null {
  const away = (spot: Spot): number => {
    const [dx, dy] = [Math.abs(spot.x - x), Math.abs(spot.y - y)];
    if (spot.w === undefined || spot.h === undefined) return Math.hypot(dx, dy);
    return dx <= spot.w / 2 && dy <= spot.h / 2 ? 0 : Infinity;
  };
  const near = spots.reduce<Spot | null>((best, spot) => (best === null || away(spot) < away(best) ? spot : best), null);
  return near !== null && away(near) < REACH ? near : null;
}

/** What a chart has no room for. */
function limitWords(sweep: Sweep, chosen: Chosen, kind: ChartKind, runs: Container | null): string | null {
  const hold = "hold a key at one value to see others.";
  const said = (most: number, of: number, noun: string): string | null =>
    of > most ? `The first ${most} of ${of} ${noun}: ${hold}` : null;
  if (kind === "pairs") return said(MOST_PAIRS, differencesOf(sweep, chosen).length, "pairs");
  if (kind === "runs") return runs === null ? null : said(MOST_LINES, spreadOf(sweep, chosen, runs).length, "lines");
  if (kind === "curves") return said(MOST_LINES, linesOf(sweep, chosen).length, "lines");
  const up = upOf(sweep, chosen);
  return up === null ? null : said(MOST_MAPS, mapsOf(sweep, chosen, up), "maps");
}

function heading(sweep: Sweep, chosen: Chosen, kind: ChartKind): string {
  const { noun } = sweep.measures[chosen.measure];
  const key = sweep.plan.keys[chosen.along];
  if (kind === "runs") return `${noun}, the share of single runs at or below each value`;
  if (kind === "pairs") {
    return `${count(differencesOf(sweep, chosen).length, "paired difference")} of ${noun} with 95% intervals`;
  }
  const up = upOf(sweep, chosen);
  if (kind === "map" && up !== null) return `${noun}, mean, over ${key} and ${sweep.plan.keys[up]}`;
  return `${noun}, mean with its 95% interval${key === undefined ? "" : `, along ${key}`}`;
}

function fileOf(sweep: Sweep, { measure }: Chosen, kind: ChartKind, ending: string): string {
  const parts = [sweep.plan.name, sweep.measures[measure].noun, ...(kind === "curves" ? [] : [CHART_WORDS[kind]])];
  return `${nameOf(parts.join("-")) || "sweep"}.${ending}`;
}
