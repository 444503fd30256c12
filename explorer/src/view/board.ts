/** The panels on the screen: draws them when something changed, and turns pointer and keys into views. */

import { effect, signal, untracked } from "@preact/signals";
import type { FlowData } from "../data/flow";
import type { Packets } from "../data/packets";
import { CanvasSurface } from "../draw/canvas";
import { PixelSurface } from "../draw/pixels";
import { type Axis, type Drawn, drawStack, ownAxis, PANELS } from "../panels/stack";
import { nearest } from "../panels/sequence";
import * as app from "./app";
import { fromShown, SAME, toShown } from "../data/clock";
import { arrived } from "./tracks";
import { drawOverlay, type Rect } from "./overlay";
import { pinched, type Pinch } from "./pinch";

export interface Hover {
  board: Board;
  x: number;
  y: number;
  /** Of the flow that the address names. */
  t: number;
  /** -1: over no packet. */
  row: number;
  packets: Packets | null;
}

/** What the pointer is over. */
export const hover = signal<Hover | null>(null);
const REACH = 12;
/** A finger is wider. */
const TOUCH_REACH = 26;
const CLICK = 4;
/** Wheel turns within this are one zoom to come back from, ms. */
const SAME_TURN = 700;

type Drag = { kind: "pan" | "box" | "pick"; x: number; y: number; view: app.View; moved: boolean; pointer: number };

export class Board {
  private readonly host: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly overlay: HTMLCanvasElement;
  private drawn: Drawn | null = null;
  private drag: Drag | null = null;
  private pinch: Pinch | null = null;
  /** Where each finger or button is down. */
  private readonly down = new Map<number, [number, number]>();
  private box: Rect | null = null;
  private turned = 0;
  private blank = false;
  private frame = 0;
  private readonly size = signal<[number, number]>([0, 0]);
  private readonly ends: (() => void)[] = [];

  private readonly subject: () => app.Subject | null;

  /** subject: reads signals, so that the board is drawn anew as they change. */
  constructor(
    host: HTMLElement,
    canvas: HTMLCanvasElement,
    overlay: HTMLCanvasElement,
    subject: () => app.Subject | null,
  ) {
    this.subject = subject;
    this.host = host;
    this.canvas = canvas;
    this.overlay = overlay;
    const watch = new ResizeObserver(() => (this.size.value = [host.clientWidth, host.clientHeight]));
    watch.observe(host);
    this.ends.push(() => watch.disconnect());
    this.listen();
    this.ends.push(
      effect(() => {
        // Whatever of these changes, the next frame draws it.
        void [this.subject(), app.other.value, app.place.value, app.palette.value, this.size.value, arrived.value];
        this.ask(() => this.draw());
      }),
      effect(() => {
        void hover.value;
        this.drawOverlay();
      }),
    );
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    for (const end of this.ends) end();
    hover.value = null;
  }

  private ask(work: () => void): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(work);
  }

  private draw(): void {
    const shown = this.shown();
    const [width, height] = this.size.peek();
    if (shown === null || width < 50 || height < 50) return;
    const surface = new PixelSurface(this.canvas, width, height, devicePixelRatio || 1);
    this.drawn = drawStack(surface, app.palette.peek(), shown.data, wishOf(shown));
    surface.finish();
    this.drawOverlay();
  }

  private drawOverlay(): void {
    const [width, height] = this.size.peek();
    if (this.drawn === null || width < 50) return;
    const { packet, picked, across } = app.place.peek();
    const nothing = hover.peek() === null && this.box === null && packet === null && picked === null;
    if (nothing && this.blank) return;
    this.blank = nothing;
    const surface = new CanvasSurface(this.overlay, width, height, devicePixelRatio || 1);
    const over = hover.peek();
    // The other board has the same time under a line of its own.
    const mine = over === null || over.board === this ? over : { ...over, row: -1 };
    const own = (t: number): number => fromShown(this.shown()?.clock ?? SAME, t);
    const x = this.drawn.scene.x(own(over?.t ?? 0));
    const stretch = picked && ([own(picked[0]), own(picked[1])] as const);
    const of = this.shown();
    const here = packet === null || of?.across === across ? packet : null;
    const marked = packet === null ? null : app.timeOf(packet);
    drawOverlay(surface, this.drawn, { hover: mine && { ...mine, x }, box: this.box, stretch, packet: here, at: marked === null ? null : own(marked) });
  }

  private shown(): app.Subject | null {
    return untracked(this.subject);
  }

  private listen(): void {
    const on = <K extends keyof HTMLElementEventMap>(
      kind: K,
      act: (event: HTMLElementEventMap[K]) => void,
      options?: AddEventListenerOptions,
    ): void => {
      this.host.addEventListener(kind, act, options);
      this.ends.push(() => this.host.removeEventListener(kind, act, options));
    };
    on("wheel", (event) => this.wheel(event), { passive: false });
    on("pointerdown", (event) => this.press(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", (event) => this.drop(event));
    on("pointerleave", () => (hover.value = null));
    on("dblclick", (event) => app.zoom(0.5, this.timeAt(this.at(event)[0])));
  }

  private at(event: MouseEvent): [number, number] {
    const box = this.host.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private timeAt(x: number): number {
    return toShown(this.shown()?.clock ?? SAME, this.drawn?.scene.x.back(x) ?? 0);
  }

  private isAcross(): boolean {
    return this.shown()?.across ?? false;
  }

  private wheel(event: WheelEvent): void {
    const data = app.flow.peek();
    if (data === null || this.drawn === null) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const { from, to } = app.viewOf(data);
    const mark = event.timeStamp - this.turned > SAME_TURN;
    this.turned = event.timeStamp;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
      const by = ((event.deltaX || event.deltaY) * unit * (to - from)) / this.drawn.plot.w;
      app.look({ from: from + by, to: to + by }, null, mark);
      return;
    }
    const factor = Math.exp(Math.max(-240, Math.min(240, event.deltaY * unit)) * 0.0022);
    const t = this.timeAt(this.at(event)[0]);
    app.look({ from: t - (t - from) * factor, to: t + (to - t) * factor }, null, mark);
  }

  private press(event: PointerEvent): void {
    const data = app.flow.peek();
    if (event.button !== 0 || data === null) return;
    const [x, y] = this.at(event);
    this.down.set(event.pointerId, [x, y]);
    this.host.setPointerCapture(event.pointerId);
    if (this.down.size > 2) return;
    if (this.down.size === 2) {
      this.beginPinch(data);
      return;
    }
    const kind = event.shiftKey ? "box" : app.picking.peek() || event.ctrlKey || event.metaKey ? "pick" : "pan";
    this.drag = { kind, x, y, view: app.viewOf(data), moved: false, pointer: event.pointerId };
  }

  /** A second finger: what the first one began is over, and the view follows both. */
  private beginPinch(data: FlowData): void {
    const [a, b] = [...this.down.values()];
    const moved = this.drag?.kind === "pan" && this.drag.moved;
    this.drag = null;
    this.box = null;
    hover.value = null;
    this.pinch = { a, b, view: app.viewOf(data) };
    if (!moved) app.look(this.pinch.view, rangeKept(), true);
  }

  private move(event: PointerEvent): void {
    const [x, y] = this.at(event);
    const { drag, drawn, pinch } = this;
    if (drawn === null) return;
    if (this.down.has(event.pointerId)) this.down.set(event.pointerId, [x, y]);
    if (pinch !== null) {
      const [a, b] = [...this.down.values()];
      app.look(pinched(pinch, a, b, drawn.plot), rangeKept(), false);
      return;
    }
    if (drag === null) {
      hover.value = this.under(x, y, REACH);
      return;
    }
    if (event.pointerId !== drag.pointer) return;
    if (Math.hypot(x - drag.x, y - drag.y) > CLICK && !drag.moved) {
      drag.moved = true;
      hover.value = null;
      if (drag.kind === "pan") app.look(drag.view, rangeKept(), true);
    }
    if (!drag.moved) return;
    if (drag.kind === "box") {
      this.box = { x: Math.min(x, drag.x), y: Math.min(y, drag.y), w: Math.abs(x - drag.x), h: Math.abs(y - drag.y) };
      this.drawOverlay();
      return;
    }
    if (drag.kind === "pick") {
      const within = (at: number): number => Math.min(Math.max(at, drawn.plot.x), drawn.plot.x + drawn.plot.w);
      const [from, to] = [within(Math.min(x, drag.x)), within(Math.max(x, drag.x))];
      app.change({ picked: from < to ? [this.timeAt(from), this.timeAt(to)] : null, packet: null, across: this.isAcross() });
      return;
    }
    const by = ((drag.x - x) * (drag.view.to - drag.view.from)) / drawn.plot.w;
    app.look({ from: drag.view.from + by, to: drag.view.to + by }, rangeKept(), false);
  }

  private up(event: PointerEvent): void {
    const { drag, drawn, box } = this;
    if (this.drop(event) || drag === null || drawn === null) return;
    const [x, y] = this.at(event);
    if (!drag.moved) {
      this.click(x, y, event.pointerType === "touch" ? TOUCH_REACH : REACH);
    } else if (drag.kind === "box" && box !== null && box.w > CLICK) {
      const first = drawn.placed[0];
      const view = { from: this.timeAt(box.x), to: this.timeAt(box.x + box.w) };
      const within = first !== undefined && drag.y < first.box.y + first.box.h && box.h > 3 * CLICK;
      const top = Math.max(box.y, first?.box.y ?? 0);
      const bottom = Math.min(box.y + box.h, (first?.box.y ?? 0) + (first?.box.h ?? 0));
      app.look(view, within ? [first.y.back(bottom), first.y.back(top)] : null, true);
    }
  }

  /** A finger is lifted. Whether it was one of several: the one that is left moves the view. */
  private drop(event: PointerEvent): boolean {
    const several = this.pinch !== null;
    this.down.delete(event.pointerId);
    this.drag = null;
    this.box = null;
    this.pinch = null;
    const data = app.flow.peek();
    const left = [...this.down][0];
    if (several && data !== null && left !== undefined) {
      const [pointer, [x, y]] = left;
      this.drag = { kind: "pan", x, y, view: app.viewOf(data), moved: true, pointer };
    }
    this.drawOverlay();
    return several;
  }

  private click(x: number, y: number, reach: number): void {
    const number = this.drawn?.numbers.find((n) => Math.abs(n.x - x) < 13);
    if (number !== undefined && this.drawn !== null && y < this.drawn.plot.y) {
      app.lookAtEpisode(number.number, this.isAcross());
      return;
    }
    const row = this.under(x, y, reach)?.row ?? -1;
    const packets = this.drawn?.scene.track?.raw ?? null;
    const packet = row < 0 || packets === null ? null : packets.packet[row];
    // An episode that is chosen stays so, as long as nothing of the other side is selected.
    const { across, episode } = app.place.peek();
    const there = packet === null ? across : this.isAcross();
    app.change({ packet, picked: null, across: there, episode: there === across ? episode : null });
  }

  private under(x: number, y: number, reach: number): Hover | null {
    const { drawn } = this;
    if (drawn === null || x < drawn.plot.x || x > drawn.plot.x + drawn.plot.w) return null;
    const first = drawn.placed[0];
    const packets = drawn.scene.track?.raw ?? null;
    const inside = first?.panel.key === "sequence" && y >= first.box.y && y <= first.box.y + first.box.h;
    const row = inside && packets !== null ? nearest(drawn.scene, packets, first.y, x, y, reach) : -1;
    return { board: this, x, y, t: this.timeAt(x), row, packets };
  }
}

function rangeKept(): [number, number] | null {
  const { low, high } = app.place.peek();
  return low === null || high === null ? null : [low, high];
}

/** What is to be drawn of a flow now. */
export function wishOf(of: app.Subject): Parameters<typeof drawStack>[3] {
  const at = app.place.peek();
  const [named, other] = [app.named.peek(), app.other.peek()];
  const twin = named === null || other === null ? null : of.across ? named : other;
  return {
    ...windowOf(of),
    low: at.low,
    high: at.high,
    episode: of.across === at.across ? at.episode : null,
    panels: PANELS.filter((panel) => !at.hidden.includes(panel.key)),
    legend: true,
    words: app.inWords,
    axis: twin === null ? ownAxis(of.data) : sharedAxis(of),
    beside: twin === null ? null : { data: twin.data, wish: windowOf(twin) },
  };
}

function windowOf({ data, clock }: app.Subject): Pick<Parameters<typeof drawStack>[3], "from" | "to" | "track"> {
  const named = app.viewOf(app.flow.peek() ?? data, app.place.peek());
  const [from, to] = [fromShown(clock, named.from), fromShown(clock, named.to)];
  return { from, to, track: (columns) => app.trackOf(data, from, to, columns) };
}

/** Side by side both have the same axis: two ends that of the end that is shown, compared runs the time since each
 * flow's first packet. */
function sharedAxis({ data, clock }: app.Subject): Axis {
  if (app.meta().comparison !== null) {
    return { clock: { rate: 1, shift: -data.detail.row.start_s }, words: "time since the flow’s first packet (s)" };
  }
  const shown = app.named.peek() ?? { data, label: "" };
  return { clock, words: shown.data.source.run === null ? `time since the first packet of ${shown.label} (s)` : ownAxis(data).words };
}
