/** Analyses captures away from the page, so that it stays awake. Ended by the page, if somebody does not want to wait. */

import { type Report, analyze, failure, hand_over, initSync } from "core";
import type { Told, Work } from "./messages";

const EVERY_MS = 100;

declare const self: DedicatedWorkerGlobalScope;
interface DedicatedWorkerGlobalScope {
  onmessage: ((event: MessageEvent<Work>) => void) | null;
  postMessage(told: Told, moved?: Transferable[]): void;
}
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

self.onmessage = ({ data: { core, files, ends } }) => {
  try {
    initSync({ module: core });
    work(files, ends);
  } catch (thrown) {
    self.postMessage(sentenceOf(thrown));
  }
};

function work(files: File[], ends: boolean): void {
  const names = unlike(files.map((file) => file.name));
  const reader = new FileReaderSync();
  const { port1: nowhere, port2 } = new MessageChannel();
  port2.close();
  let last: ArrayBuffer | null = null;
  hand_over(names, Float64Array.from(files, (file) => file.size), (file, from, length) => {
    // The core has copied the piece before this one. Sent to a port that is closed, its memory is free at once; the collector
    // would leave several hundred of them.
    if (last !== null) nowhere.postMessage(null, [last]);
    last = reader.readAsArrayBuffer(files[file].slice(from, from + length));
    return new Uint8Array(last);
  });
  const [paths, receiver] = ends ? [names.slice(0, 1), names.slice(1)] : [names, []];
  let told = 0;
  const found = analyze(paths, receiver, (done, total, packets) => {
    const now = performance.now();
    if (now - told < EVERY_MS) return;
    told = now;
    self.postMessage({ kind: "progress", done, total, packets });
  });
  const text = found.json().buffer;
  self.postMessage({ kind: "json", text, failed: found.failed() }, [text]);
  const report = found.report();
  self.postMessage({ kind: "report", title: report.title(), data: elements(report) });
}

/** In pieces: a script of a page must not hold such an element itself. */
const open = (attributes: string): string => ["<", "script", attributes, ">"].join("");
const CLOSE = ["<", "/script>\n"].join("");

/** As `rexmit report` writes them. */
function elements(report: Report): Blob {
  const parts: BlobPart[] = [open(' id="rexmit-meta" type="application/json"'), report.meta(), CLOSE];
  for (const name of report.names()) {
    // A part of a Blob may leave memory.
    parts.push(new Blob([open(` type="text/plain" data-blob="${name}"`), report.take(name), CLOSE]));
  }
  return new Blob(parts);
}

/** Two files may come from different folders with the same name. */
function unlike(names: string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times === 0 ? name : `${name} (${times + 1})`;
  });
}

function sentenceOf(thrown: unknown): Told {
  // The core throws its sentences as they are.
  if (typeof thrown === "string") return { kind: "error", sentence: thrown, ours: false };
  let sentence = String(thrown);
  try {
    sentence = failure() || sentence;
  } catch {
    // Nothing works any more.
  }
  return { kind: "error", sentence, ours: true };
}
