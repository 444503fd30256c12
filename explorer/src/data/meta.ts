/** What META of FORMAT.md holds. Keys that end in `_ns` are since the source's `origin`. */

import type { Looks } from "./looks";
import type { Sweep } from "./sweep";

export type Certainty = "known" | "likely" | "open";

export interface Finding {
  kind: string;
  text: string;
  certainty: Certainty;
}

export interface Outage {
  begin_earliest_s: number;
  begin_latest_s: number;
  end_earliest_s: number | null;
  end_latest_s: number | null;
  certainty: Certainty;
}

export interface Outages {
  count: number;
  length_s: number | null;
  period_s: number | null;
  starts_s: number[];
  each: Outage[];
}

/** Time that one cause owns. by: the responsible end, client or server. */
export interface CauseShare {
  cause: string;
  by: string | null;
  seconds: number;
  share: number;
  certainty: Certainty;
  text: string;
  grounds: string[];
  helps: string[];
  does_not_help: string[];
}

/** Of a connection; both of its flows have it. seconds, share: of the cause that is the answer. */
export interface Answer {
  cause: string;
  by: string | null;
  certainty: Certainty;
  text: string;
  seconds: number;
  share: number;
  client: string;
  server: string;
  causes: CauseShare[];
  findings: Finding[];
  limits: string[];
}

/** at_least: no more than that much is known. */
export interface Path {
  capacity_bps: number | null;
  at_least: boolean;
}

export interface Episode {
  number: number;
  start_ns: number;
  first_repair_ns: number | null;
  end_ns: number | null;
  kind: string;
  lost_copies: number | null;
  lost_segments: number | null;
  lost_acks: number | null;
  retransmissions: number;
  needless: number | null;
  timeouts: number;
  probes: number;
  max_backoff: number;
  cost_s: number | null;
  silence_s: number | null;
  flight_bytes: number | null;
  limit: string | null;
  certainty?: Certainty;
  evidence?: string[];
}

export interface Burst {
  start_ns: number;
  last_ns: number | null;
  lost_copies: number | null;
  lost_segments: number | null;
  trigger: string;
  seq_start: number;
  seq_end: number;
  episode: number | null;
}

export interface Idle {
  start_ns: number;
  length_s: number;
  cause: string;
}

export interface FlowRow {
  flow: number;
  sender: string;
  receiver: string;
  vantage: string;
  bytes: number;
  acked_bytes: number | null;
  segments: number;
  mss: number;
  start_s: number;
  end_s: number;
  duration_s: number;
  throughput_bps: number | null;
  handshake?: { time_s: number | null; sack_permitted: boolean | null };
  retransmissions: { total: number; by_cause: Record<string, number>; needless: number | null };
  lost: { copies: number | null; segments: number | null };
  burst_count: number;
  episode_count: number;
  timeouts: number;
  idle_count: number;
  idle_total_s: number;
  path: Path | null;
  rtt: Record<string, { n: number; min_ms: number; mean_ms: number; max_ms: number } | null>;
}

/** Counts of each interval; `length_s` of one. */
export interface Intervals {
  start_ns: number[];
  sent_bytes: number[];
  new_bytes: number[];
  acked_bytes: number[];
  length_s: number | null;
}

/** Of a connection: who owns which part of its time. */
export interface Owners {
  start_ns: number[];
  end_ns: number[];
  cause: string[];
  by: (string | null)[];
  certainty: Certainty[];
}

export interface Detail {
  flow: number;
  key: string;
  row: FlowRow;
  answer: Answer | null;
  outages: Outages | null;
  /** rows: of a blob that several flows share. */
  packets: { count: number; held: "all" | "windows" | "none"; blobs: string[]; rows?: [number, number] };
  bins: { blob: string; bin_ns: number }[];
  episodes: Episode[];
  bursts: Burst[];
  idle: Idle[];
  left_out?: { episodes: number; bursts: number; idle: number };
  intervals: Intervals;
  owners?: Owners | null;
  rtt: string | null;
  retransmissions: string | null;
  state: string | null;
  /** Of its connection. */
  turns?: string | null;
}

export interface FlowColumns {
  flow: number[];
  sender: string[];
  receiver: string[];
  bytes: number[];
  duration_s: number[];
  throughput_bps: (number | null)[];
  lost_copies: (number | null)[];
  retransmitted_segments: number[];
  episodes: number[];
  timeouts: number[];
  rank: number[];
  /** Of the answer, and its seconds; null beyond the worst flows. */
  cause: (string | null)[];
  cause_s: (number | null)[];
}

export interface Source {
  id: number;
  label: string;
  place: string | null;
  origin: string | null;
  span_s: number;
  capture: Record<string, unknown>;
  totals: Record<string, unknown>;
  warnings: string[];
  run: Record<string, unknown> | null;
  /** Of the receiver's capture of a pair: its time t is `rate * t + shift_ns` on the sender's clock. */
  clock?: { rate: number; shift_ns: number } | null;
  flows: { columns: FlowColumns; left_out: number };
  details: Detail[];
  /** Where further Details lie: JSON, a list of them. */
  more?: { blob: string; flows: number[] }[];
}

export interface Comparison {
  labels: string[];
  flows: { source: number; flow: number; key?: string }[];
  differences: {
    longer_s?: number | null;
    differences?: { what: string; first: string; second: string; cost_s: number | null }[];
    withheld?: string[];
  };
  /** Instants count from the flow's first packet. */
  episodes: { first: PairedEpisode | null; second: PairedEpisode | null }[];
  assumed?: string[];
}

export type PairedEpisode = Pick<
  Episode,
  "number" | "start_ns" | "end_ns" | "kind" | "lost_copies" | "lost_segments"
>;

export type Words = Record<string, Record<string, string>>;

export interface Meta {
  format: number;
  kind: "capture" | "run" | "comparison" | "study" | "sweep";
  title: string;
  version: string;
  command: string;
  anonymized: boolean;
  notes: string[];
  words?: Words;
  looks?: Looks;
  sources: Source[];
  comparison: Comparison | null;
  study: Record<string, unknown> | null;
  sweep: Sweep | null;
}
