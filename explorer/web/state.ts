/** What the page is at: waiting for files, asking how they belong together, reading, or showing what was found. */

import { signal } from "@preact/signals";
import type { Told, Work } from "./messages";
import { core, frame } from "./payload";
import Analyser from "./worker?worker&inline";

export interface Found {
  title: string;
  json: Blob;
  /** The report's own page. */
  report: Blob;
  address: string;
}

export type State =
  | { at: "start"; error: string | null }
  | { at: "asking"; files: File[] }
  | { at: "reading"; files: File[]; done: number; total: number; packets: number }
  | { at: "shown"; found: Found; warning: string | null };

export const state = signal<State>({ at: "start", error: null });

let worker: Worker | null = null;

export function again(error: string | null = null): void {
  worker?.terminate();
  worker = null;
  if (state.value.at === "shown") URL.revokeObjectURL(state.value.found.address);
  state.value = { at: "start", error };
}

export function take(files: File[]): void {
  if (files.length === 0) return;
  if (files.length === 2) state.value = { at: "asking", files };
  else void read(files, false);
}

export async function read(files: File[], ends: boolean): Promise<void> {
  again();
  const total = files.reduce((sum, file) => sum + file.size, 0);
  state.value = { at: "reading", files, done: 0, total, packets: 0 };
  const started = new Analyser();
  worker = started;
  let json: Blob | null = null;
  let warning: string | null = null;
  started.onerror = (event) => again(`rexmit failed: ${event.message}`);
  started.onmessage = ({ data }: MessageEvent<Told>) => {
    if (started !== worker) return;
    if (data.kind === "progress") {
      state.value = { at: "reading", files, done: data.done, total: data.total, packets: data.packets };
    } else if (data.kind === "json") {
      json = new Blob([data.text], { type: "application/json" });
      if (data.failed) warning = "rexmit failed on a connection: the report says on which";
    } else if (data.kind === "error") {
      again(data.ours ? `rexmit failed: ${data.sentence}` : data.sentence);
    } else if (json !== null) {
      void show(data.title, json, data.data, warning);
    }
  };
  const work: Work = { core: await core(), files, ends };
  if (started === worker) started.postMessage(work, [work.core]);
}

async function show(title: string, json: Blob, data: Blob, warning: string | null): Promise<void> {
  const [before, behind] = await frame();
  const report = new Blob([before, data, behind], { type: "text/html" });
  worker?.terminate();
  worker = null;
  state.value = { at: "shown", found: { title, json, report, address: URL.createObjectURL(report) }, warning };
}
