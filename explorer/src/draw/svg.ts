/** A Surface that writes an SVG document. */

import { FONT, type Marker, MONO, OUTLINES, type Surface, TEXT_SIZE, type TextStyle } from "./surface";

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const ANCHOR = { left: "start", center: "middle", right: "end" } as const;
/** Half of the height of a digit, of the size of the font; SVG's own baselines differ between viewers. */
const DROP = { top: 0.78, middle: 0.35, alphabetic: 0, bottom: -0.2 } as const;

export class SvgSurface implements Surface {
  readonly width: number;
  readonly height: number;
  private readonly parts: string[] = [];
  private readonly defined: string[] = [];
  private readonly hatches = new Map<string, string>();
  private clips = 0;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
  }

  document(title: string, background: string): string {
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}"`,
      ` viewBox="0 0 ${this.width} ${this.height}" font-family="${escaped(FONT)}" font-size="${TEXT_SIZE}">`,
      `<title>${escaped(title)}</title>`,
      this.defined.length > 0 ? `<defs>${this.defined.join("")}</defs>` : "",
      `<rect width="100%" height="100%" fill="${escaped(background)}"/>`,
      ...this.parts,
      "</svg>\n",
    ].join("\n");
  }

  rect(x: number, y: number, w: number, h: number, fill: string): void {
    this.parts.push(`<rect x="${p(x)}" y="${p(y)}" width="${p(w)}" height="${p(h)}" fill="${escaped(fill)}"/>`);
  }

  rects(flat: number[], fill: string): void {
    let d = "";
    for (let i = 0; i < flat.length; i += 4) {
      d += `M${p(flat[i])} ${p(flat[i + 1])}h${p(flat[i + 2])}v${p(flat[i + 3])}h${p(-flat[i + 2])}z`;
    }
    if (d !== "") this.parts.push(`<path d="${d}" fill="${escaped(fill)}"/>`);
  }

  frame(x: number, y: number, w: number, h: number, stroke: string): void {
    this.parts.push(
      `<rect x="${p(x)}" y="${p(y)}" width="${p(w)}" height="${p(h)}" fill="none" stroke="${escaped(stroke)}"/>`,
    );
  }

  hatch(x: number, y: number, w: number, h: number, stroke: string): void {
    let id = this.hatches.get(stroke);
    if (id === undefined) {
      id = `hatch-${this.hatches.size}`;
      this.hatches.set(stroke, id);
      this.defined.push(
        `<pattern id="${id}" width="6" height="6" patternUnits="userSpaceOnUse">` +
          `<path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" stroke="${escaped(stroke)}"/></pattern>`,
      );
    }
    this.rect(x, y, w, h, `url(#${id})`);
  }

  line(x1: number, y1: number, x2: number, y2: number, stroke: string, width = 1, dash: number[] = []): void {
    this.polyline([x1, y1, x2, y2], stroke, width, dash);
  }

  polyline(flat: number[], stroke: string, width = 1, dash: number[] = []): void {
    if (flat.length < 4) return;
    const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    this.parts.push(
      `<path d="${path(flat)}" fill="none" stroke="${escaped(stroke)}" stroke-width="${p(width)}"${dashes}/>`,
    );
  }

  polygon(flat: number[], fill: string): void {
    this.parts.push(`<path d="${path(flat)}z" fill="${escaped(fill)}"/>`);
  }

  markers(shape: Marker, flat: number[], size: number, fill: string, edge: string | null): void {
    const outline = OUTLINES[shape];
    let d = "";
    for (let i = 0; i < flat.length; i += 2) {
      const x = flat[i];
      const y = flat[i + 1];
      if (outline !== undefined) d += `${path(outline.map((v, k) => (k % 2 ? y : x) + v * size))}z`;
      else if (shape === "cross") {
        d += `M${p(x - size)} ${p(y - size)}L${p(x + size)} ${p(y + size)}`;
        d += `M${p(x - size)} ${p(y + size)}L${p(x + size)} ${p(y - size)}`;
      } else {
        const r = p(size);
        d += `M${p(x - size)} ${p(y)}a${r} ${r} 0 1 0 ${p(2 * size)} 0a${r} ${r} 0 1 0 ${p(-2 * size)} 0z`;
      }
    }
    if (d === "") return;
    const filled = shape !== "cross" && shape !== "ring";
    const look = filled
      ? `fill="${escaped(fill)}" stroke="${escaped(edge ?? "none")}" stroke-width="0.6"`
      : `fill="none" stroke="${escaped(fill)}" stroke-width="1.3"`;
    this.parts.push(`<path d="${d}" ${look}/>`);
  }

  text(x: number, y: number, words: string, style: TextStyle): void {
    const size = style.size ?? TEXT_SIZE;
    const at = `x="${p(x)}" y="${p(y + DROP[style.baseline ?? "middle"] * size)}"`;
    const family = style.mono ? ` font-family="${escaped(MONO)}"` : "";
    const look = `font-size="${size}" text-anchor="${ANCHOR[style.align ?? "left"]}" fill="${escaped(style.colour)}"`;
    const weight = style.bold ? ' font-weight="600"' : "";
    this.parts.push(`<text ${at} ${look}${weight}${family}>${escaped(words)}</text>`);
  }

  textWidth(words: string, size = TEXT_SIZE): number {
    return words.length * size * 0.53;
  }

  clip(x: number, y: number, w: number, h: number, inside: () => void): void {
    const id = `clip-${this.clips++}`;
    this.defined.push(
      `<clipPath id="${id}"><rect x="${p(x)}" y="${p(y)}" width="${p(w)}" height="${p(h)}"/></clipPath>`,
    );
    this.parts.push(`<g clip-path="url(#${id})">`);
    inside();
    this.parts.push("</g>");
  }
}

function path(flat: number[]): string {
  let d = `M${p(flat[0])} ${p(flat[1])}`;
  for (let i = 2; i < flat.length; i += 2) d += `L${p(flat[i])} ${p(flat[i + 1])}`;
  return d;
}

/** Hundredths of a pixel are enough. */
function p(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Text as XML takes it; control characters, which it does not take, become U+FFFD. */
export function escaped(words: string): string {
  return words
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"']/g, (c) => ENTITIES[c]);
}
