/** Where in the report one is, and how that is written in the address: `#flow/3?t=1.5,2.25&p=812`, `#episode/3/2@2`.
 * All numbers there count from 1; behind an @ stands which capture or run, where it is not the first. */

export type Page = "overview" | "flow" | "episode" | "comparison" | "study" | "sweep";
export type LadderScale = "time" | "even";

export interface Place {
  page: Page;
  source: number;
  flow: number | null;
  episode: number | null;
  /** The time in view, seconds; null: all of it. */
  from: number | null;
  to: number | null;
  /** A range of sequence numbers that a box zoom asked for. */
  low: number | null;
  high: number | null;
  /** A stretch of time that was selected, seconds. */
  picked: [number, number] | null;
  /** The number of the selected packet. */
  packet: number | null;
  scale: LadderScale;
  /** Panels that are switched off. */
  hidden: string[];
  /** Whether the other vantage point, or the other run, stands beside. */
  beside: boolean;
  /** Whether what is selected (packet, stretch, episode) is of what stands beside. */
  across: boolean;
  /** What the chart of a sweep is of (data/sweep.ts); null: what is shown first. */
  chart: number[] | null;
  /** Which chart that is. */
  kind: ChartKind;
}

export const CHARTS = ["curves", "map", "runs", "pairs"] as const;
export type ChartKind = (typeof CHARTS)[number];

export const NOWHERE: Place = {
  page: "overview",
  source: 0,
  flow: null,
  episode: null,
  from: null,
  to: null,
  low: null,
  high: null,
  picked: null,
  packet: null,
  scale: "even",
  hidden: [],
  beside: false,
  across: false,
  chart: null,
  kind: "curves",
};

const PAGES: readonly string[] = ["overview", "flow", "episode", "comparison", "study", "sweep"];
/** Pages of no flow. */
const WHOLE: readonly string[] = ["comparison", "study", "sweep"];

export function toFragment(place: Place): string {
  const path: (string | number)[] = [place.page];
  if (!WHOLE.includes(place.page)) {
    if (place.flow !== null) path.push(place.flow + 1);
    if (place.page === "episode" && place.flow !== null) path.push((place.episode ?? 0) + 1);
  }
  const of = !WHOLE.includes(place.page) && place.source > 0 ? `@${place.source + 1}` : "";
  const query: string[] = [];
  if (place.page === "flow") {
    if (place.from !== null && place.to !== null) query.push(`t=${short(place.from)},${short(place.to)}`);
    if (place.low !== null && place.high !== null) query.push(`y=${short(place.low)},${short(place.high)}`);
    if (place.picked !== null) query.push(`s=${place.picked.map(short).join(",")}`);
    if (place.hidden.length > 0) query.push(`hide=${place.hidden.join(",")}`);
    if (place.beside) query.push("beside=1");
    if (place.beside && place.across) query.push("across=1");
    if (place.episode !== null) query.push(`e=${place.episode + 1}`);
  }
  if (place.page === "sweep" && place.chart !== null) query.push(`c=${place.chart.join(",")}`);
  if (place.page === "sweep" && place.kind !== NOWHERE.kind) query.push(`f=${place.kind}`);
  if (place.packet !== null) query.push(`p=${place.packet}`);
  if (place.page === "episode" && place.scale !== NOWHERE.scale) query.push(`scale=${place.scale}`);
  return `#${path.join("/")}${of}${query.length > 0 ? `?${query.join("&")}` : ""}`;
}

/** Null for what is no place; parts that are wrong are left out. */
export function fromFragment(fragment: string): Place | null {
  const [path, query] = fragment.replace(/^#/, "").split("?");
  const [page, ...numbers] = path.split("/");
  const named = page.split("@")[0];
  if (!PAGES.includes(named)) return null;
  const asked = new URLSearchParams(query ?? "");
  const time = pair(asked.get("t"));
  const range = pair(asked.get("y"));
  const { source, flow, episode } = former(named, numbers) ?? whereOf(path);
  const beside = asked.get("beside") === "1";
  return {
    page: named as Page,
    source: source ?? 0,
    flow,
    episode: episode ?? fromOne(asked.get("e")),
    from: time?.[0] ?? null,
    to: time?.[1] ?? null,
    low: range?.[0] ?? null,
    high: range?.[1] ?? null,
    picked: pair(asked.get("s")),
    packet: whole(asked.get("p")),
    scale: asked.get("scale") === "time" ? "time" : "even",
    beside,
    across: beside && asked.get("across") === "1",
    chart: wholes(asked.get("c")),
    kind: CHARTS.find((kind) => kind === asked.get("f")) ?? NOWHERE.kind,
    hidden: (asked.get("hide") ?? "").split(",").filter((key) => /^[a-z]+$/.test(key)),
  };
}

type Where = Record<"source" | "flow" | "episode", number | null>;

function whereOf(path: string): Where {
  const [numbers, source] = path.split("@");
  const [, flow, episode] = numbers.split("/");
  return { source: fromOne(source), flow: fromOne(flow), episode: fromOne(episode) };
}

/** Links as they were before: source and flow, both from 0, then the episode, from 1. */
function former(page: string, numbers: readonly string[]): Where | null {
  const [source, flow, episode] = numbers.map(whole);
  const one = page === "overview" && source === 0;
  if (numbers.length !== (page === "episode" ? 3 : 2) && !(one && numbers.length === 1)) return null;
  return { source, flow: flow ?? null, episode: episode === undefined || episode === null || episode < 1 ? null : episode - 1 };
}

/** What a number that counts from 1 stands for; null for none. */
function fromOne(text: string | null | undefined): number | null {
  const number = whole(text);
  return number === null || number < 1 ? null : number - 1;
}

function short(value: number): string {
  return String(Number(value.toFixed(9)));
}

function whole(text: string | null | undefined): number | null {
  return text !== null && text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Whole numbers, -1 among them. */
function wholes(text: string | null): number[] | null {
  return text !== null && /^(-1|\d{1,6})(,(-1|\d{1,6}))*$/.test(text) ? text.split(",").map(Number) : null;
}

/** Two numbers, the first below the second. */
function pair(text: string | null): [number, number] | null {
  const found = (text ?? "").split(",").map(Number);
  return found.length === 2 && found.every(Number.isFinite) && found[0] < found[1] ? [found[0], found[1]] : null;
}
