/** The whole transfer at a glance: its throughput, with episodes and outages as bands, what each moment is due to, who speaks,
 * and idle gaps. */

import { useEffect, useRef } from "preact/hooks";
import type { FlowData } from "../data/flow";
import { CanvasSurface } from "../draw/canvas";
import { path } from "../panels/path";
import { rates } from "../panels/rates";
import { idle } from "../panels/idle";
import { owner } from "../panels/owner";
import { turns } from "../panels/turns";
import { type Drawn, drawStack, ownAxis } from "../panels/stack";

import { arrived } from "../view/tracks";
import { turnsInWords } from "./turns";
import { go, inWords, lookAtEpisode, palette, trackOf } from "../view/app";

const PANELS = [rates, path, owner, turns, idle];

export function Timeline({ data }: { data: FlowData }): preact.JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<Drawn | null>(null);
  const colours = palette.value;
  useEffect(() => {
    const box = host.current;
    const on = canvas.current;
    if (box === null || on === null) return;
    const draw = (): void => {
      if (box.clientWidth < 50) return;
      const surface = new CanvasSurface(on, box.clientWidth, box.clientHeight, devicePixelRatio || 1);
      const margin = data.seconds * 0.005;
      const [from, to] = [data.from - margin, data.to + margin];
      drawn.current = drawStack(surface, colours, data, {
        from,
        to,
        low: null,
        high: null,
        episode: null,
        panels: PANELS,
        legend: false,
        track: (columns) => trackOf(data, from, to, columns),
        words: inWords,
        axis: ownAxis(data),
        beside: null,
      });
    };
    const watch = new ResizeObserver(() => {
      draw();
      // What benches/explorer.py waits for.
      if (drawn.current?.scene.track) performance.mark("drawn");
    });
    watch.observe(box);
    return () => watch.disconnect();
  }, [data, colours, arrived.value]);
  const open = (event: MouseEvent): void => {
    const scene = drawn.current?.scene;
    const left = canvas.current?.getBoundingClientRect().left ?? 0;
    if (scene === undefined) return;
    const t = scene.x.back(event.clientX - left);
    const reach = (data.seconds * 6) / scene.columns;
    const near = data.detail.episodes.find(
      (e) => t >= e.start_ns / 1e9 - reach && t <= (e.end_ns ?? data.to * 1e9) / 1e9 + reach,
    );
    go({ page: "flow" });
    if (near !== undefined) lookAtEpisode(near.number);
  };
  const n = data.detail.episodes.length;
  const shared = path.wanted({ data, track: null });
  return (
    <div class={shared ? "timeline tall" : "timeline"} ref={host}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`Throughput over time${shared ? ", of this flow and of all flows between its hosts" : ""}, with ${n} loss episodes and ${data.detail.idle.length} idle gaps; the table below lists the episodes. ${turnsInWords(data.turns)}`}
        onClick={open}
      />
    </div>
  );
}
