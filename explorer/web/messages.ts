/** What page and worker tell each other. */

/** Files of one capture; or, with `ends`, two of the same transfers from both ends. */
export interface Work {
  core: ArrayBuffer;
  files: File[];
  ends: boolean;
}

export type Told =
  | { kind: "progress"; done: number; total: number; packets: number }
  /** What `rexmit analyze --json` prints. */
  | { kind: "json"; text: ArrayBuffer; failed: boolean }
  /** A report's data, as elements of its page. */
  | { kind: "report"; title: string; data: Blob }
  /** ours: rexmit itself failed; else something is to be said of the files. */
  | { kind: "error"; sentence: string; ours: boolean };
