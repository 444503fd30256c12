/** What `rexmit study run --json` writes (docs/study.schema.json), as far as the page shows it. */

export type Value = number | string | boolean | null | (number | string | null)[];

export interface StudyRow {
  key: string;
  definition: string;
  unit: string | null;
  printed: string;
  rexmit: Value;
  ratio: number | null;
  interval: [number | null, number | null] | null;
  n: number;
  grade: string;
  reproduced: boolean;
  why: string | null;
}

export interface Statement {
  key: string;
  figure: string;
  statement: string;
  found: string;
  agrees: boolean | null;
  drawing: string | null;
}

/** A number that JSON has not is a word there: "infinity". */
type Bound = number | string | null;

export interface Test {
  what: string;
  effect: Bound;
  unit: string | null;
  interval: [Bound, Bound] | null;
  margin: number | null;
  n: number | null;
  p_corrected: Bound;
}

export interface Claim {
  key: string;
  claim: string;
  verdict: string;
  effect_text: string | null;
  n: number | null;
  evidence: string;
  reading: string | null;
  tests: Test[];
}

export interface Study {
  study: string;
  title: string;
  quick: boolean;
  replications: number;
  grades: Record<string, number>;
  /** The grades in words. */
  grade_words?: Record<string, string>;
  rows: StudyRow[];
  statements: Statement[];
  claims: Claim[];
  left_out: string[];
  failures: string[];
  figures?: { name: string; svg: string }[];
}
