/** A Surface for what is drawn in every frame: rectangles, of which the panels have thousands, go straight into
 * the canvas's pixels, whole device pixels each; everything else is drawn above them by the canvas itself.
 * Whoever draws on it begins with a background, and wants no rectangle above a text or a marker. */

import { CanvasSurface, contextOf } from "./canvas";
import type { Marker, Surface, TextStyle } from "./surface";

/** Spacing of a hatch's lines, and their width, CSS pixels. */
const HATCH = 6;
/** Rectangles narrower than this have the same width wherever they stand, device pixels. */
const NARROW = 4;
/** Pixels of a row that are written one by one. */
const LONG = 40;

/** Kept from frame to frame: the pixels of each canvas. */
const kept = new WeakMap<HTMLCanvasElement, ImageData>();

interface Colour {
  /** As a pixel stands in memory: ABGR. */
  pixel: number;
  alpha: number;
}

export class PixelSurface implements Surface {
  readonly width: number;
  readonly height: number;
  private readonly image: ImageData;
  private readonly pixels: Uint32Array;
  private readonly across: number;
  private readonly ratio: number;
  private readonly canvas: CanvasSurface;
  private readonly context: CanvasRenderingContext2D;
  private above: (() => void)[] = [];
  /** What rectangles are cut off at, device pixels. */
  private left = 0;
  private top = 0;
  private right: number;
  private bottom: number;
  /** The canvas takes the size, times `ratio` device pixels. */
  constructor(canvas: HTMLCanvasElement, width: number, height: number, ratio: number) {
    this.width = width;
    this.height = height;
    this.ratio = ratio;
    this.canvas = new CanvasSurface(canvas, width, height, ratio);
    this.context = contextOf(canvas);
    let image = kept.get(canvas);
    if (image === undefined || image.width !== canvas.width || image.height !== canvas.height) {
      image = this.context.createImageData(canvas.width, canvas.height);
      kept.set(canvas, image);
    }
    this.image = image;
    this.across = image.width;
    this.right = image.width;
    this.bottom = image.height;
    this.pixels = new Uint32Array(image.data.buffer);
  }

  /** Shows what was drawn. */
  finish(): void {
    this.context.putImageData(this.image, 0, 0);
    for (const draw of this.above) draw();
    this.above = [];
  }

  rect(x: number, y: number, w: number, h: number, fill: string): void {
    this.fill(x, y, w, h, colourOf(fill));
  }

  rects(flat: number[], fill: string): void {
    const colour = colourOf(fill);
    for (let i = 0; i < flat.length; i += 4) this.fill(flat[i], flat[i + 1], flat[i + 2], flat[i + 3], colour);
  }

  frame(x: number, y: number, w: number, h: number, stroke: string): void {
    this.above.push(() => this.canvas.frame(x, y, w, h, stroke));
  }

  hatch(x: number, y: number, w: number, h: number, stroke: string): void {
    const { pixel } = colourOf(stroke);
    const shares = hatchShares(this.ratio);
    const [left, right] = this.span(x, w, this.left, this.right);
    const [top, bottom] = this.span(y, h, this.top, this.bottom);
    for (let row = top; row < bottom; row++) {
      for (let column = left; column < right; column++) {
        const share = shares[(row + column) % shares.length];
        if (share > 0) this.blend(column, column + 1, row, row + 1, pixel, share);
      }
    }
  }

  line(x1: number, y1: number, x2: number, y2: number, stroke: string, width = 1, dash: number[] = []): void {
    if (dash.length === 0 && x1 === x2) this.rect(x1 - width / 2, Math.min(y1, y2), width, Math.abs(y2 - y1), stroke);
    else if (dash.length === 0 && y1 === y2) this.rect(Math.min(x1, x2), y1 - width / 2, Math.abs(x2 - x1), width, stroke);
    else this.polyline([x1, y1, x2, y2], stroke, width, dash);
  }

  polyline(flat: number[], stroke: string, width = 1, dash: number[] = []): void {
    this.above.push(() => this.canvas.polyline(flat, stroke, width, dash));
  }

  polygon(flat: number[], fill: string): void {
    this.above.push(() => this.canvas.polygon(flat, fill));
  }

  markers(shape: Marker, flat: number[], size: number, fill: string, edge: string | null): void {
    if (flat.length > 0) this.above.push(() => this.canvas.markers(shape, flat, size, fill, edge));
  }

  text(x: number, y: number, words: string, style: TextStyle): void {
    this.above.push(() => this.canvas.text(x, y, words, style));
  }

  textWidth(words: string, size?: number): number {
    return this.canvas.textWidth(words, size);
  }

  clip(x: number, y: number, w: number, h: number, inside: () => void): void {
    const { above, left, top, right, bottom } = this;
    [this.left, this.right] = this.span(x, w, left, right);
    [this.top, this.bottom] = this.span(y, h, top, bottom);
    this.above = [];
    inside();
    const within = this.above;
    Object.assign(this, { above, left, top, right, bottom });
    if (within.length > 0) above.push(() => this.canvas.clip(x, y, w, h, () => within.forEach((draw) => draw())));
  }

  /** Whole device pixels, one at least, within the bounds. */
  private span(at: number, length: number, low: number, high: number): [number, number] {
    const from = Math.round(at * this.ratio);
    const long = length * this.ratio;
    const to = long < NARROW ? from + Math.max(1, Math.ceil(long - 1e-6)) : Math.round((at + length) * this.ratio);
    return [Math.min(high, Math.max(low, from)), Math.max(low, Math.min(high, to))];
  }

  private fill(x: number, y: number, w: number, h: number, { pixel, alpha }: Colour): void {
    const { pixels, across, ratio } = this;
    // As `span` does, without an array for each of thousands.
    const wide = w * ratio;
    const start = Math.round(x * ratio);
    const head = Math.round(y * ratio);
    const left = Math.max(this.left, start);
    const right = Math.min(this.right, wide < NARROW ? start + Math.max(1, Math.ceil(wide - 1e-6)) : Math.round((x + w) * ratio));
    const top = Math.max(this.top, head);
    const bottom = Math.min(this.bottom, Math.max(head + 1, Math.round((y + h) * ratio)));
    if (left >= right) return;
    if (alpha === 1 && right - left === across) {
      pixels.fill(pixel, top * across, bottom * across);
      return;
    }
    if (alpha < 1) {
      this.blend(left, right, top, bottom, pixel, alpha);
      return;
    }
    for (let row = top * across; row < bottom * across; row += across) {
      // A call costs as much as some tens of pixels.
      if (right - left > LONG) pixels.fill(pixel, row + left, row + right);
      else for (let at = row + left; at < row + right; at++) pixels[at] = pixel;
    }
  }

  private blend(left: number, right: number, top: number, bottom: number, pixel: number, share: number): void {
    const { pixels, across } = this;
    // Neighbours lie on the same colour.
    let under = -1;
    let both = 0;
    for (let row = top * across; row < bottom * across; row += across) {
      for (let at = row + left; at < row + right; at++) {
        if (pixels[at] !== under) {
          under = pixels[at];
          both = mixed(under, pixel, share);
        }
        pixels[at] = both;
      }
    }
  }
}

function mixed(under: number, over: number, share: number): number {
  const part = (shift: number): number => {
    const below = (under >>> shift) & 0xff;
    return Math.round(below + (((over >>> shift) & 0xff) - below) * share) << shift;
  };
  return (0xff000000 | part(16) | part(8) | part(0)) >>> 0;
}

const colours = new Map<string, Colour>();

/** Of `#rrggbb` and `rgba(r,g,b,a)`, which is what the palette has. */
export function colourOf(css: string): Colour {
  let found = colours.get(css);
  if (found === undefined) {
    found = parsed(css);
    colours.set(css, found);
  }
  return found;
}

function parsed(css: string): Colour {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(css);
  const parts = /^rgba\((\d+),(\d+),(\d+),([\d.]+)\)$/.exec(css.replace(/\s/g, ""));
  if (hex === null && parts === null) throw new Error(`${css} is no colour of a palette`);
  const [r, g, b] = (hex ?? parts)!.slice(1, 4).map((word) => parseInt(word, hex === null ? 10 : 16));
  return { pixel: ((0xff << 24) | (b << 16) | (g << 8) | r) >>> 0, alpha: hex === null ? Number(parts![4]) : 1 };
}

const hatched = new Map<number, number[]>();

/** How much of a pixel the lines from lower left to upper right cover, by row and column together. */
function hatchShares(ratio: number): number[] {
  let shares = hatched.get(ratio);
  if (shares === undefined) {
    const period = Math.max(2, Math.round(HATCH * ratio));
    shares = Array.from({ length: period }, (_, k) => {
      const away = Math.min(k, period - k) * Math.SQRT1_2;
      return Math.min(1, Math.max(0, ratio / 2 + 0.5 - away));
    });
    hatched.set(ratio, shares);
  }
  return shares;
}
