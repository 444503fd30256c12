/** Where the page has its data from: its own elements (`rexmit report`), or a server (`rexmit view`). */

import { type Container, decode } from "./container";
import type { Detail, Meta } from "./meta";

export interface Store {
  meta: Meta;
  blob(name: string): Promise<Container>;
  /** A blob that is JSON. */
  json(name: string): Promise<unknown>;
  /** Only of a server: a window of one flow, as packets if they are few enough, else as bins. */
  window?(source: number, flow: number, fromNs: number, toNs: number, columns: number): Promise<Container>;
  /** Only of a server: round trips of a stretch of a flow that has too many for one blob. */
  rtt?(source: number, flow: number, fromNs: number, toNs: number): Promise<Container>;
  /** Only of a server: what META has no detail of. */
  load?(source: number, flow: number): Promise<Detail>;
}

export async function openStore(page: Document): Promise<Store | null> {
  const server = page.getElementById("rexmit-server");
  if (server !== null) return served(JSON.parse(server.textContent ?? "") as { base: string });
  const meta = page.getElementById("rexmit-meta");
  return meta === null ? null : embedded(page, JSON.parse(meta.textContent ?? "") as Meta);
}

function embedded(page: Document, meta: Meta): Store {
  const elements = new Map<string, Element>();
  for (const element of page.querySelectorAll("script[data-blob]")) {
    elements.set(element.getAttribute("data-blob") ?? "", element);
  }
  const held = async (name: string): Promise<ArrayBuffer> => {
    const element = elements.get(name);
    if (element === undefined) throw new Error(`this report holds no ${name}`);
    return inflate(fromBase64(element.textContent ?? ""));
  };
  return {
    meta,
    blob: kept(async (name) => decode(await held(name))),
    json: kept(async (name): Promise<unknown> => JSON.parse(new TextDecoder().decode(await held(name)))),
  };
}

async function served({ base }: { base: string }): Promise<Store> {
  const ask = async (path: string): Promise<Response> => {
    const answer = await fetch(base + path, { credentials: "omit" });
    if (!answer.ok) throw new Error(`the server answered ${answer.status} to ${path.replace(/\?.*/, "")}`);
    return answer;
  };
  const container = async (path: string): Promise<Container> => decode(await (await ask(path)).arrayBuffer());
  return {
    meta: (await (await ask("meta.json")).json()) as Meta,
    blob: kept((name) => container(`blob/${name}`)),
    json: kept(async (name): Promise<unknown> => (await ask(`blob/${name}`)).json()),
    window: (source, flow, from, to, columns) =>
      container(
        `window?source=${source}&flow=${flow}&from_ns=${Math.floor(from)}&to_ns=${Math.ceil(to)}&columns=${columns}`,
      ),
    rtt: (source, flow, from, to) =>
      container(`rtt?source=${source}&flow=${flow}&from_ns=${Math.floor(from)}&to_ns=${Math.ceil(to)}`),
    load: async (source, flow) => (await (await ask(`load?source=${source}&flow=${flow}`)).json()) as Detail,
  };
}

/** Each blob is decoded once. */
function kept<T>(read: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (name) => {
    let found = known.get(name);
    if (found === undefined) {
      found = read(name);
      known.set(name, found);
    }
    return found;
  };
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(plain).arrayBuffer();
}
