/** What the page knows and what it does: one place, the flow that it shows, how it looks. */

import { computed, effect, signal } from "@preact/signals";
import { type FlowData, loadFlow, sourceOf } from "../data/flow";
import type { Episode, Meta } from "../data/meta";
import { setLooks } from "../data/looks";
import type { Store } from "../data/store";
import { DARK, LIGHT, type Palette } from "../draw/palette";
import { episodeEnd } from "../panels/bands";
import { grouped, seconds, size } from "../draw/units";
import type { Track } from "../data/track";
import type { Turn } from "../data/turns";
import { trackFor } from "./tracks";
import { type Clock, fromShown, SAME, toShown } from "../data/clock";
import { otherOf } from "./pair";
import { type Selection, selectionOf } from "./selection";
import { fromFragment, NOWHERE, type Place, toFragment } from "./place";

export type Theme = "auto" | "light" | "dark";

export const store = signal<Store | null>(null);
export const place = signal<Place>(NOWHERE);
export const flow = signal<FlowData | null>(null);
/** A flow on the screen. clock: against that of the flow that the address names. across: it stands beside that one. */
export interface Subject {
  data: FlowData;
  label: string;
  clock: Clock;
  across: boolean;
}

/** What stands beside it. */
export const other = signal<Subject | null>(null);
/** The flow that the address names, and the one that the selection is of. */
export const named = computed<Subject | null>(() => subjectOf(flow.value));
export const chosen = computed<Subject | null>(() => (isAcross.value ? other.value : null) ?? named.value);
export const loading = signal(false);
export const failure = signal<string | null>(null);
/** Said aloud by a screen reader. */
export const announced = signal("");
export const theme = signal<Theme>("auto");
const systemDark = signal(matchMedia("(prefers-color-scheme: dark)").matches);
/** Paper is white. */
export const printing = signal(false);
/** Whether a drag selects a stretch of time, and does not move the view. */
export const picking = signal(false);

/** Parts of the place: what shows one of these is not made anew while one only moves through time. */
export const page = computed(() => place.value.page);
export const flowNumber = computed(() => place.value.flow);
export const episodeNumber = computed(() => place.value.episode);
export const pickedStretch = computed(() => place.value.picked);
export const chart = computed(() => place.value.chart);
export const chartKind = computed(() => place.value.kind);
export const packetNumber = computed(() => place.value.packet);
export const isBeside = computed(() => place.value.beside);
export const isAcross = computed(() => place.value.across);
export const hiddenPanels = computed(() => place.value.hidden);

export const palette = computed<Palette>(() => {
  if (printing.value) return LIGHT;
  return theme.value === "dark" || (theme.value === "auto" && systemDark.value) ? DARK : LIGHT;
});

/** What the other flow depends on; views come and go. */
const besides = computed(() => `${place.value.source}/${place.value.flow ?? ""}/${place.value.beside}`);

interface Window {
  from: number | null;
  to: number | null;
  low: number | null;
  high: number | null;
}

/** An episode to look at once its flow is there. */
let awaited: number | null = null;

/** What CSV is of. Of the view only as much as its words say: it moves with every frame. */
export const selection = computed<Selection | null>(() => {
  const [of, shown] = [chosen.value, flow.value];
  if (of === null || shown === null) return null;
  const { from, to } = viewOf(shown);
  return selectionOf(of, place.value, { from: fromShown(of.clock, from), to: fromShown(of.clock, to) });
});

export const selectionWords = computed(() => selection.value?.words ?? "");

/** Windows to go back to. */
const trail: Window[] = [];

export function meta(): Meta {
  const found = store.value;
  if (found === null) throw new Error("no report is open");
  return found.meta;
}

/** A name of a closed set in words. */
export function inWords(set: string, name: string): string {
  return store.value?.meta.words?.[set]?.[name] ?? name;
}

export function begin(opened: Store): void {
  setLooks(opened.meta.looks ?? {});
  store.value = opened;
  place.value = fromFragment(location.hash) ?? home(opened.meta);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => (systemDark.value = dark.matches));
  addEventListener("beforeprint", () => (printing.value = true));
  addEventListener("afterprint", () => (printing.value = false));
  addEventListener("popstate", () => {
    trail.length = 0;
    place.value = fromFragment(location.hash) ?? home(opened.meta);
  });
  effect(() => {
    document.documentElement.dataset["theme"] = palette.value.dark ? "dark" : "light";
  });
  effect(() => {
    const { source, flow: wanted } = place.value;
    void show(opened, source, wanted);
  });
  effect(() => {
    const [source, wanted, beside] = besides.value.split("/");
    const found = beside === "true" && wanted !== "" ? otherOf(opened.meta, Number(source), Number(wanted)) : null;
    if (found === null) {
      other.value = null;
      return;
    }
    loadFlow(opened, found.source, found.flow).then((data) => {
      if (place.peek().beside) other.value = data === null ? null : { data, label: found.label, clock: found.clock, across: true };
    }, failed);
  });
}

function home(meta: Meta): Place {
  const { kind } = meta;
  const page = kind === "study" || kind === "comparison" || kind === "sweep" ? kind : "overview";
  return { ...NOWHERE, page, source: meta.sources[0]?.id ?? 0, flow: worstFlow(meta, meta.sources[0]?.id ?? 0) };
}

export function worstFlow(meta: Meta, source: number): number | null {
  const columns = meta.sources.find((s) => s.id === source)?.flows.columns;
  if (columns === undefined) return null;
  const at = columns.rank.indexOf(0);
  return columns.flow[at < 0 ? 0 : at] ?? null;
}

/** Why nothing is shown of the flow that the address names. */
export function missing(): string {
  const { source, flow: wanted } = place.value;
  const columns = meta().sources.find((s) => s.id === source)?.flows.columns;
  if (columns === undefined) return `This report has no capture or run ${source + 1}: the address is that of another report.`;
  if (wanted === null) return "No flow is named: the overview’s table has every one.";
  const left = meta().sources.some((s) => s.id === source && s.flows.left_out > 0);
  if (!columns.flow.includes(wanted) && !left) return `This report has no flow ${wanted + 1}: the overview’s table has every one.`;
  return `This report has no room for the details of flow ${wanted + 1}: rexmit view on the capture shows every one.`;
}

async function show(from: Store, source: number, wanted: number | null): Promise<void> {
  const shown = flow.peek();
  if (shown?.source.id === source && shown.detail.flow === wanted) return;
  if (wanted === null || sourceOf(from, source) === null) {
    flow.value = null;
    return;
  }
  loading.value = true;
  failure.value = null;
  try {
    const found = await loadFlow(from, source, wanted);
    // Another flow may have been asked for meanwhile.
    if (place.peek().source !== source || place.peek().flow !== wanted) return;
    flow.value = found;
    if (awaited !== null && found !== null) lookAtEpisode(awaited);
    awaited = null;
  } catch (error) {
    failed(error);
    flow.value = null;
  } finally {
    loading.value = false;
  }
}

/** To another page: the browser's own way back leads here again. */
export function go(to: Partial<Place>): void {
  trail.length = 0;
  const whole = { from: null, to: null, low: null, high: null, picked: null, packet: null, episode: null, across: false };
  place.value = { ...place.value, ...whole, ...to };
  history.pushState(null, "", toFragment(place.value));
}

/** Another look at the same page. */
export function change(to: Partial<Place>): void {
  place.value = { ...place.value, ...to };
  remember();
}

let waiting: number | undefined;

/** Browsers limit how often an address may change: while one drags, it waits. */
function remember(): void {
  clearTimeout(waiting);
  waiting = setTimeout(() => history.replaceState(history.state, "", toFragment(place.value)), 120);
}

export interface View {
  from: number;
  to: number;
}

/** All there is to see of a flow, and of what stands beside the one that is shown. */
function extentOf(data: FlowData): View & { seconds: number } {
  const beside = other.value;
  if (beside === null || data !== flow.value) return data;
  const from = Math.min(data.from, toShown(beside.clock, beside.data.from));
  const to = Math.max(data.to, toShown(beside.clock, beside.data.to));
  return { from, to, seconds: to - from };
}

export function viewOf(data: FlowData, at: Place = place.value): View {
  const all = extentOf(data);
  const margin = all.seconds * 0.01;
  return { from: at.from ?? all.from - margin, to: at.to ?? all.to + margin };
}

/** mark: whether one can come back to what is shown now. */
export function look(view: View, range: [number, number] | null, mark: boolean): void {
  const data = flow.value;
  if (data === null) return;
  if (mark) {
    const { from, to, low, high } = place.value;
    trail.push({ from, to, low, high });
    if (trail.length > 100) trail.shift();
  }
  const kept = bounded(view, extentOf(data));
  change({ from: kept.from, to: kept.to, low: range?.[0] ?? null, high: range?.[1] ?? null });
}

/** No closer than a microsecond, no further than the flow and a tenth more. */
export function bounded(view: View, data: { from: number; to: number; seconds: number }): View {
  const most = data.seconds * 1.2;
  const span = Math.min(Math.max(view.to - view.from, 1e-6), most);
  const centre = (view.from + view.to) / 2;
  const low = data.from - data.seconds * 0.1;
  const high = data.to + data.seconds * 0.1;
  const from = Math.min(Math.max(centre - span / 2, low), Math.max(low, high - span));
  return { from, to: from + span };
}

export function fit(): void {
  const { from, to, low, high } = place.value;
  if (from === null && low === null) return;
  trail.push({ from, to, low, high });
  change({ from: null, to: null, low: null, high: null });
}

/** False if there is nothing to go back to. */
export function back(): boolean {
  const last = trail.pop();
  if (last === undefined) return false;
  change(last);
  return true;
}

/** Selects the time that is in view. */
export function pickView(across: boolean): void {
  const data = flow.value;
  if (data === null) return;
  const all = extentOf(data);
  const { from, to } = viewOf(data);
  change({ picked: [Math.max(from, all.from), Math.min(to, all.to)], packet: null, across });
}

export function zoom(factor: number, at?: number): void {
  const data = flow.value;
  if (data === null) return;
  const { from, to } = viewOf(data);
  const fixed = at ?? (from + to) / 2;
  look({ from: fixed - (fixed - from) * factor, to: fixed + (to - fixed) * factor }, null, true);
}

export function pan(share: number): void {
  const data = flow.value;
  if (data === null) return;
  const { from, to } = viewOf(data);
  const by = (to - from) * share;
  look({ from: from + by, to: to + by }, null, false);
}

/** What is drawn of a flow over a stretch of time. */
export function trackOf(data: FlowData, from: number, to: number, columns: number): Track | null {
  const opened = store.peek();
  return opened === null ? null : trackFor(opened, data, from, to, columns, failed);
}

/** When the selected packet was seen, on the clock of the flow that the address names. */
export function timeOf(packet: number): number | null {
  const of = chosen.peek();
  const found = of?.data.find(packet) ?? null;
  return of === null || found === null ? null : toShown(of.clock, found.packets.time[found.row]);
}

export function failed(error: unknown): void {
  failure.value = error instanceof Error ? error.message : String(error);
}

/** An episode of the flow that is shown, or of what stands beside it; of one that is still coming, once it is there. */
export function lookAtEpisode(number: number, across = false): void {
  const data = flow.value;
  if (data === null || data.detail.flow !== place.value.flow || data.source.id !== place.value.source) {
    awaited = number;
    return;
  }
  const of = across ? other.value : subjectOf(data);
  const episode = of?.data.detail.episodes.find((e) => e.number === number);
  if (of === null || episode === undefined) return;
  const from = toShown(of.clock, episode.start_ns / 1e9);
  const to = toShown(of.clock, episodeEnd(episode.end_ns, of.data.to));
  const margin = Math.max((to - from) * 0.25, 1e-4);
  look({ from: from - margin, to: to + margin }, null, true);
  change({ episode: number, across });
  announced.value = (across ? `${of.label}: ` : "") + episodeInWords(episode);
}

/** The message and the wait for it, with the message before. */
export function lookAtTurn({ host, start, end, bytes, waited, program }: Turn): void {
  if (page.peek() !== "flow") go({ page: "flow" });
  const from = start - (waited ?? 0);
  const margin = Math.max((end - from) * 0.25, 1e-4);
  look({ from: from - margin, to: end + margin }, null, true);
  const after = waited === null ? "" : ` after ${seconds(waited)}, of which its program took ${seconds(program)}`;
  announced.value = `The ${host} sent ${size(bytes)} at ${grouped(start, 3)} s${after}`;
}

/** across: of which side; else of the one that the selection is of. */
export function stepEpisode(by: 1 | -1, across?: boolean): void {
  const of = across === undefined ? chosen.value : across ? other.value : named.value;
  if (of === null || of.data.detail.episodes.length === 0) return;
  const { episodes } = of.data.detail;
  const at = of.across === place.value.across ? episodes.findIndex((e) => e.number === place.value.episode) : -1;
  const next = at < 0 ? (by > 0 ? 0 : episodes.length - 1) : at + by;
  lookAtEpisode(episodes[Math.min(Math.max(next, 0), episodes.length - 1)].number, of.across);
}

/** The ladder of an episode of a flow on the screen. */
export function openLadder(of: Subject, episode: number): void {
  go({ page: "episode", source: of.data.source.id, flow: of.data.detail.flow, episode });
}

function subjectOf(data: FlowData | null): Subject | null {
  return data === null ? null : { data, label: data.source.label, clock: SAME, across: false };
}

export function episodeInWords(e: Episode): string {
  const lost = e.lost_copies ?? e.lost_segments;
  const words = [`episode ${e.number + 1} at ${grouped(e.start_ns / 1e9, 3)} s`];
  if (lost !== null) words.push(`${grouped(lost)} lost`);
  words.push(inWords("episode_kind", e.kind));
  if (e.timeouts > 0) words.push(`${e.timeouts} timeout${e.timeouts === 1 ? "" : "s"}`);
  return words.join(", ");
}
