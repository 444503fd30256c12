/** What the page holds beside its script: the core, the page of a report, samples; each unpacked when it is needed. */

import { fromBase64, inflate } from "../src/data/store";

function element(name: string): HTMLElement {
  const found = document.getElementById(name);
  if (found === null) throw new Error(`this page holds no ${name}`);
  return found;
}

export function core(): Promise<ArrayBuffer> {
  return inflate(fromBase64(element("core").textContent ?? ""));
}

/** The page of a report: what stands before its data, and what stands behind. */
export async function frame(): Promise<[string, string]> {
  const text = await inflate(fromBase64(element("report").textContent ?? ""));
  return JSON.parse(new TextDecoder().decode(text)) as [string, string];
}

export interface Sample {
  name: string;
  about: string;
  file: string;
}

export function samples(): Sample[] {
  return JSON.parse(element("samples").textContent ?? "[]") as Sample[];
}

export function sampleFile({ name, file }: Sample): File {
  return new File([fromBase64(element(`sample-${name}`).textContent ?? "")], file);
}
