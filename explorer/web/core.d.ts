/** What `crates/web` offers, as wasm-bindgen binds it. */
declare module "core" {
  export function initSync(from: { module: BufferSource }): void;
  export function failure(): string;
  export function hand_over(
    names: string[],
    sizes: Float64Array,
    read: (file: number, from: number, length: number) => Uint8Array,
  ): void;
  export function analyze(
    paths: string[],
    receiver: string[],
    progress: (done: number, total: number, packets: number) => void,
  ): Analysis;
  export class Analysis {
    json(): Uint8Array<ArrayBuffer>;
    failed(): boolean;
    report(): Report;
  }
  export class Report {
    meta(): string;
    title(): string;
    /** Names of blobs; each is there once, as base64 of raw deflate. */
    names(): string[];
    take(name: string): string;
  }
}

declare module "*?worker&inline" {
  const Made: new () => Worker;
  export default Made;
}

declare module "*.css" {}
