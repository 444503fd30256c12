/** What is selected of a flow, and so what CSV is of: a stretch of time before a packet before an episode; the
 * view where nothing is. */

import type { FlowData } from "../data/flow";
import { seconds } from "../draw/units";
import { episodeEnd } from "../panels/bands";
import type { View } from "./app";
import type { Place } from "./place";

export interface Selection extends View {
  kind: "stretch" | "packet" | "episode" | "view";
  /** Of the one that is selected; null of a time. */
  packet: number | null;
  words: string;
  /** As a file is called. */
  name: string;
}

export function selectionOf(data: FlowData, at: Place, view: View): Selection {
  const whole = { from: Math.max(view.from, data.from), to: Math.min(view.to, data.to) };
  if (at.picked !== null) {
    const [from, to] = at.picked;
    return { kind: "stretch", from, to, packet: null, words: `${seconds(to - from)} selected`, name: "selection" };
  }
  if (at.packet !== null) {
    return { kind: "packet", ...whole, packet: at.packet, words: `packet ${at.packet}`, name: `packet-${at.packet}` };
  }
  const episode = data.detail.episodes.find((e) => e.number === at.episode);
  if (episode !== undefined) {
    const number = episode.number + 1;
    const [from, to] = [episode.start_ns / 1e9, episodeEnd(episode.end_ns, data.to)];
    return { kind: "episode", from, to, packet: null, words: `episode ${number}`, name: `episode-${number}` };
  }
  return { kind: "view", ...whole, packet: null, words: "the view", name: "view" };
}
