/** What is selected of a flow, and so what CSV is of: a stretch of time before a packet before an episode; the
 * view where nothing is. */

import { fromShown } from "../data/clock";
import { seconds } from "../draw/units";
import { episodeEnd } from "../panels/bands";
import type { FlowData } from "../data/flow";
import type { Subject, View } from "./app";
import type { Place } from "./place";

export interface Selection extends View {
  data: FlowData;
  kind: "stretch" | "packet" | "episode" | "view";
  /** Of the one that is selected; null of a time. */
  packet: number | null;
  words: string;
  /** As a file is called. */
  name: string;
}

/** view: on the clock of `of`. */
export function selectionOf(of: Subject, at: Place, view: View): Selection {
  const { data } = of;
  const whole = { data, from: Math.max(view.from, data.from), to: Math.min(view.to, data.to) };
  // Side by side it is told which of the two.
  const where = at.beside ? ` of ${of.label}` : "";
  if (at.picked !== null) {
    const [from, to] = at.picked.map((t) => fromShown(of.clock, t));
    const words = `${seconds(at.picked[1] - at.picked[0])} selected${where}`;
    return { data, kind: "stretch", from, to, packet: null, words, name: "selection" };
  }
  if (at.packet !== null) {
    return { kind: "packet", ...whole, packet: at.packet, words: `packet ${at.packet}${where}`, name: `packet-${at.packet}` };
  }
  const episode = data.detail.episodes.find((e) => e.number === at.episode);
  if (episode !== undefined) {
    const number = episode.number + 1;
    const [from, to] = [episode.start_ns / 1e9, episodeEnd(episode.end_ns, data.to)];
    return { data, kind: "episode", from, to, packet: null, words: `episode ${number}${where}`, name: `episode-${number}` };
  }
  return { kind: "view", ...whole, packet: null, words: `the view${where}`, name: "view" };
}
