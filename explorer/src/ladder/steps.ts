/** The packet exchange of one episode as steps: single packets, and runs of alike ones folded into one
 * (docs/figures.md, Ladder). */

import { lookOf } from "../data/looks";
import type { Burst, Episode } from "../data/meta";
import type { Block, Packets } from "../data/packets";
import { count } from "../draw/units";

/** What a person takes in on one page. */
const MOST_STEPS = 56;
/** Fewer alike packets than this are drawn one by one. */
const FOLD_FROM = 4;

export type Kind =
  | "new"
  | "repair"
  | "control"
  | "hole"
  | "ack"
  | "partial"
  | "duplicate"
  | "dsack"
  | "lost-acks"
  | "mixed";

export interface Step {
  toReceiver: boolean;
  kind: Kind;
  first: number;
  last: number;
  /** Rows of the packets; none of what was never seen. */
  rows: number[];
  packets: number;
  segments: number;
  seqStart: number;
  seqEnd: number;
  ackFirst: number;
  ackLast: number;
  sack: Block[];
  dsack: boolean;
  cause: string;
  lost: boolean;
  needless: boolean;
  /** Of a mixed one: what it sums up. */
  parts: string[];
}

const BARE: Omit<Step, "toReceiver" | "kind" | "first" | "last"> = {
  rows: [],
  packets: 1,
  segments: 1,
  seqStart: 0,
  seqEnd: 0,
  ackFirst: -1,
  ackLast: -1,
  sack: [],
  dsack: false,
  cause: "",
  lost: false,
  needless: false,
  parts: [],
};

export interface Around {
  mss: number;
  /** A pause after which a run does not go on, seconds. */
  quiet: number;
  /** Of a receiver's capture: a lost copy is a hole and no packet. */
  holes: boolean;
  /** The highest ACK before these packets; -1 where none is known. */
  newest?: number;
  /** Whether ACKs that only the other end's capture shows as lost are told here. */
  lostAcks?: boolean;
}

export function isFolded(step: Step): boolean {
  return step.packets > 1 || step.kind === "hole" || step.kind === "lost-acks" || step.kind === "mixed";
}

/** Rows with a few before and after. */
export function windowOf(packets: Packets, [from, to]: [number, number], lead: number, tail: number): [number, number] {
  return [Math.max(0, from - lead), Math.min(packets.n, to + tail)];
}

/** The highest ACK until the end of the rows, from one that came before. */
export function newestAck(packets: Packets, [from, to]: [number, number], before: number): number {
  let newest = before;
  for (let i = from; i < to; i++) if (packets.data[i] === 0) newest = Math.max(newest, packets.ack[i]);
  return newest;
}

/** unfolded: the first rows of runs that are to be shown packet by packet. */
export function stepsOf(
  packets: Packets,
  rows: [number, number],
  episode: Episode,
  bursts: readonly Burst[],
  around: Around,
  unfolded: ReadonlySet<number>,
): Step[] {
  const singles = singlesOf(packets, rows, around.mss, around.newest);
  if (around.holes) {
    for (const burst of bursts) if (burst.seq_end > burst.seq_start) singles.push(holeOf(burst));
    singles.sort((a, b) => a.first - b.first);
  }
  const folded = [true, false].flatMap((way) =>
    fold(
      singles.filter((step) => step.toReceiver === way),
      around.quiet,
      unfolded,
    ),
  );
  if (episode.lost_acks && around.lostAcks !== false) folded.push(lostAcks(episode, episode.lost_acks));
  return summed(inOrder(folded), MOST_STEPS, unfolded);
}

function inOrder(steps: Step[]): Step[] {
  return steps.sort((a, b) => a.first - b.first || (a.rows[0] ?? 0) - (b.rows[0] ?? 0));
}

export function singlesOf(packets: Packets, [from, to]: [number, number], mss: number, before = -1): Step[] {
  const found: Step[] = [];
  let newest = before;
  for (let i = from; i < to; i++) {
    const at = packets.time[i];
    const seen = { ...BARE, first: at, last: at, rows: [i] };
    const length = packets.len[i];
    if (packets.data[i] === 1) {
      const cause = packets.causes[packets.cause[i]] ?? "";
      const seq = packets.seq[i];
      const sent = { ...seen, toReceiver: true, seqStart: seq, seqEnd: seq + length };
      found.push(
        length === 0
          ? { ...sent, kind: "control" }
          : {
              ...sent,
              kind: cause === "" ? "new" : "repair",
              segments: Math.max(1, Math.ceil(length / mss)),
              cause,
              lost: packets.lost[i] === 1,
              needless: packets.needless[i] === 1,
            },
      );
      continue;
    }
    const ack = packets.ack[i];
    const sack = packets.blocks(i);
    const dsack = packets.dsack[i] === 1;
    const kind: Kind = dsack ? "dsack" : ack <= newest ? "duplicate" : sack.length > 0 ? "partial" : "ack";
    newest = Math.max(newest, ack);
    found.push({ ...seen, toReceiver: false, kind, ackFirst: ack, ackLast: ack, sack, dsack });
  }
  return found;
}

function holeOf(burst: Burst): Step {
  const at = burst.start_ns / 1e9;
  return {
    ...BARE,
    toReceiver: true,
    kind: "hole",
    first: at,
    last: at,
    segments: burst.lost_segments ?? 1,
    seqStart: burst.seq_start,
    seqEnd: burst.seq_end,
    lost: true,
  };
}

/** With both captures the number of lost ACKs is known, but nothing was seen where the packets are from. */
function lostAcks(episode: Episode, packets: number): Step {
  const first = episode.start_ns / 1e9;
  const last = (episode.first_repair_ns ?? episode.start_ns) / 1e9;
  return { ...BARE, toReceiver: false, kind: "lost-acks", first, last, packets, lost: true };
}

export function fold(oneWay: readonly Step[], quiet: number, unfolded: ReadonlySet<number>): Step[] {
  const runs: Step[][] = [];
  for (const step of oneWay) {
    const run = runs[runs.length - 1];
    const before = run?.[run.length - 1];
    if (before !== undefined && alike(before, step) && step.first - before.last <= quiet) run.push(step);
    else runs.push([step]);
  }
  return runs.flatMap((run) => {
    // The first repair of a run is what an ACK or the timer set off: it stands alone.
    const head = run[0].kind === "repair" && run.length > FOLD_FROM ? 1 : 0;
    const rest = run.slice(head);
    const open = rest.length < FOLD_FROM || unfolded.has(rest[0].rows[0]);
    return [...run.slice(0, head), ...(open ? rest : [joined(rest)])];
  });
}

/** At most about `limit` steps: how it began and ended stays, so do the first repair and what a timer sent; the
 * rest is summed up, stretch by stretch. */
export function summed(steps: readonly Step[], limit: number, unfolded: ReadonlySet<number>): Step[] {
  if (steps.length <= limit) return [...steps];
  const ends = Math.floor(limit / 4);
  const head = steps.slice(0, ends);
  const middle = steps.slice(ends, -ends);
  const keep = new Set(middle.filter(isNotable).slice(0, Math.floor(limit / 8)));
  const repaired = head.some((step) => step.kind === "repair");
  const first = middle.find((step) => step.kind === "repair");
  if (!repaired && first !== undefined) keep.add(first);
  for (const step of middle) if (step.kind === "lost-acks") keep.add(step);
  const result: Step[] = [...head];
  let pending: Step[] = [];
  for (const step of [...middle, null]) {
    if (step !== null && !keep.has(step)) {
      pending.push(step);
      continue;
    }
    result.push(...sumUp(pending, unfolded));
    if (step !== null) result.push(step);
    pending = [];
  }
  return [...result, ...steps.slice(-ends)];
}

function sumUp(pending: readonly Step[], unfolded: ReadonlySet<number>): Step[] {
  const sums = [true, false].flatMap((way) => {
    const run = pending.filter((step) => step.toReceiver === way);
    const rows = run.flatMap((step) => step.rows);
    if (run.length < FOLD_FROM || rows.some((row) => unfolded.has(row))) return run;
    const lost = run.every((step) => step.lost);
    return [{ ...joined(run), kind: "mixed" as const, cause: "", lost, needless: false, rows, parts: partsOf(run) }];
  });
  return inOrder(sums);
}

/** `812 new segments`, `90 repairs`, … */
function partsOf(run: readonly Step[]): string[] {
  const counted = new Map<string, [number, string]>();
  for (const step of run) {
    const lost = step.lost && step.kind !== "repair";
    const [one, many] = step.toReceiver
      ? step.kind === "repair"
        ? ["repair", "repairs"]
        : step.kind === "control"
          ? ["control packet", "control packets"]
          : lost
            ? ["lost segment", "lost segments"]
            : ["new segment", "new segments"]
      : (ONE[step.kind] ?? ["ACK", "ACKs"]);
    const n = (counted.get(one)?.[0] ?? 0) + (step.toReceiver ? step.segments : step.packets);
    counted.set(one, [n, many]);
  }
  return [...counted].map(([one, [n, many]]) => count(n, one, many));
}

function alike(a: Step, b: Step): boolean {
  return (
    a.kind !== "hole" &&
    a.kind === b.kind &&
    a.cause === b.cause &&
    a.lost === b.lost &&
    a.needless === b.needless
  );
}

function joined(run: readonly Step[]): Step {
  const reach = (step: Step): number => Math.max(0, ...step.sack.map((block) => block.end));
  const last = run[run.length - 1];
  return {
    ...run[0],
    last: last.last,
    rows: run.flatMap((step) => step.rows),
    packets: run.reduce((sum, step) => sum + step.packets, 0),
    segments: run.reduce((sum, step) => sum + step.segments, 0),
    seqStart: Math.min(...run.map((step) => step.seqStart)),
    seqEnd: Math.max(...run.map((step) => step.seqEnd)),
    ackLast: last.ackLast,
    sack: run.reduce((most, step) => (reach(step) > reach(most) ? step : most)).sack,
  };
}

const ONE: Partial<Record<Kind, [string, string]>> = {
  ack: ["ACK", "ACKs"],
  partial: ["partial ACK", "partial ACKs"],
  duplicate: ["duplicate ACK", "duplicate ACKs"],
  dsack: ["ACK with DSACK", "ACKs with DSACK"],
};

/** As tcpdump writes it: `1967433:1968881(1448)`, `ack 1965985, SACK 2094857-2096305`. */
export function labelOf(step: Step): string {
  if (step.kind === "mixed") return step.parts.join(", ");
  const span = `${step.seqStart}:${step.seqEnd}`;
  if (step.kind === "hole") return `${count(step.segments, "segment")} missing, ${span}`;
  if (step.kind === "lost-acks") return `${count(step.packets, "ACK")} lost on the way`;
  if (step.kind === "control") return isFolded(step) ? `${count(step.packets, "packet")} without data` : "no data";
  if (step.toReceiver) {
    return isFolded(step) ? `${count(step.segments, "segment")}, ${span}` : `${span}(${step.seqEnd - step.seqStart})`;
  }
  if (isFolded(step)) {
    const many = count(step.packets, ...(ONE[step.kind] ?? ["packet", "packets"]));
    if (step.kind !== "duplicate" && step.kind !== "dsack") return `${many}, ack ${step.ackFirst} to ${step.ackLast}`;
    const reach = Math.max(0, ...step.sack.map((block) => block.end));
    return `${many}, ack ${step.ackLast}${reach > 0 ? `, SACK up to ${reach}` : ""}`;
  }
  const words = [`ack ${step.ackLast}`];
  const blocks = step.sack.map((block) => `${block.start}-${block.end}`);
  if (step.dsack && blocks.length > 0) words.push(`DSACK ${blocks.shift()}`);
  if (blocks.length > 0) words.push(`SACK ${blocks.join(" ")}`);
  return words.join(", ");
}

/** What the label does not say: again, why, whether needlessly, and whether it was lost. */
export function remarkOf(step: Step, words: (cause: string) => string): string {
  return [
    step.kind === "repair" ? `again: ${words(step.cause)}` : "",
    step.needless ? "needless" : "",
    step.lost && step.kind !== "lost-acks" && step.kind !== "hole" ? "lost" : "",
  ]
    .filter(Boolean)
    .join(", ");
}

/** Where no data left for longer than `longer`, seconds: by the step that ends it. */
export function silencesOf(steps: readonly Step[], longer: number): Map<Step, number> {
  const found = new Map<Step, number>();
  let last: number | null = null;
  for (const step of steps) {
    if (!step.toReceiver || step.kind === "hole") continue;
    if (last !== null && step.first - last > longer) found.set(step, step.first - last);
    last = Math.max(last ?? 0, step.last);
  }
  return found;
}

/** Steps that say why things went on are never summed up. */
function isNotable(step: Step): boolean {
  return lookOf("cause", step.cause)?.group === "timer";
}
