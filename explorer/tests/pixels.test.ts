import { describe, expect, it } from "vitest";
import { colourOf, PixelSurface } from "../src/draw/pixels";

/** A canvas that keeps what is put on it, and the names of the calls that draw above. */
function canvasOf(): { canvas: HTMLCanvasElement; shown: () => Uint32Array; calls: string[] } {
  const calls: string[] = [];
  let shown = new Uint32Array();
  const context: Record<string, unknown> = {
    createImageData: (width: number, height: number) => ({ width, height, data: new Uint8ClampedArray(4 * width * height) }),
    putImageData: (image: ImageData) => {
      calls.push("pixels");
      shown = new Uint32Array(image.data.slice().buffer);
    },
  };
  for (const name of ["setTransform", "clearRect", "save", "restore", "beginPath", "arc", "rect", "moveTo", "lineTo"]) context[name] = () => {};
  for (const name of ["clip", "stroke", "fill", "fillText"]) context[name] = () => calls.push(name);
  const canvas = { width: 0, height: 0, getContext: () => context } as unknown as HTMLCanvasElement;
  return { canvas, shown: () => shown, calls };
}

/** Rows of letters: `.` the background, `#` black, `?` another colour. */
function rowsOf(pixels: Uint32Array, width: number): string[] {
  const letters = [...pixels].map((p) => (p === 0xffffffff ? "." : p === 0xff000000 ? "#" : "?")).join("");
  return Array.from({ length: pixels.length / width }, (_, row) => letters.slice(row * width, (row + 1) * width));
}

function drawn(width: number, height: number, ratio: number, draw: (s: PixelSurface) => void): string[] {
  const { canvas, shown } = canvasOf();
  const surface = new PixelSurface(canvas, width, height, ratio);
  surface.rect(0, 0, width, height, "#ffffff");
  draw(surface);
  surface.finish();
  return rowsOf(shown(), Math.round(width * ratio));
}

describe("rectangles as pixels", () => {
  it("cover whole pixels, one at least", () => {
    expect(drawn(6, 3, 1, (s) => s.rect(1, 1, 2, 1, "#000000"))).toEqual(["......", ".##...", "......"]);
    expect(drawn(6, 3, 1, (s) => s.rects([1.2, 0, 0.1, 0.1, 4, 2, 1, 1], "#000000"))).toEqual([".#....", "......", "....#."]);
    expect(drawn(3, 1, 2, (s) => s.rect(1, 0, 1, 1, "#000000"))).toEqual(["..##..", "..##.."]);
  });

  it("have the same width wherever they stand, if they are narrow", () => {
    for (const x of [1, 1.3, 1.5, 1.8]) {
      expect(drawn(8, 1, 1, (s) => s.rect(x, 0, 1.4, 1, "#000000"))[0].replace(/\./g, "")).toBe("##");
    }
  });

  it("leave no gap between columns that touch, whatever the screen's ratio", () => {
    for (const ratio of [1, 1.25, 1.5, 2, 3]) {
      const rows = drawn(8, 1, ratio, (s) => s.rects([0, 1, 2, 3, 4, 5, 6, 7].flatMap((x) => [x, 0, 1, 1]), "#000000"));
      expect(rows[0]).toBe("#".repeat(Math.round(8 * ratio)));
    }
  });

  it("are cut off at a clip, also within another, and at the edges", () => {
    const rows = drawn(6, 3, 1, (s) => {
      s.clip(1, 0, 4, 2, () => s.clip(2, 0, 9, 9, () => s.rect(-5, -5, 50, 50, "#000000")));
      s.rect(-3, 2, 4, 8, "#000000");
    });
    expect(rows).toEqual(["..###.", "..###.", "#....."]);
  });

  it("are lines where these are level or upright", () => {
    expect(drawn(4, 3, 1, (s) => s.line(0, 1.5, 4, 1.5, "#000000"))).toEqual(["....", "####", "...."]);
    expect(drawn(4, 3, 1, (s) => s.line(2.5, 0, 2.5, 3, "#000000"))).toEqual(["..#.", "..#.", "..#."]);
  });

  it("let what is below shine through as much as their colour says", () => {
    const { canvas, shown } = canvasOf();
    const surface = new PixelSurface(canvas, 1, 1, 1);
    surface.rect(0, 0, 1, 1, "#ffffff");
    surface.rect(0, 0, 1, 1, "rgba(155, 0, 55, 0.5)");
    surface.finish();
    // ABGR
    expect(shown()[0]).toBe((0xff000000 | (155 << 16) | (128 << 8) | 205) >>> 0);
  });

  it("lie below everything else, in the order in which that was asked for", () => {
    const { canvas, calls } = canvasOf();
    const surface = new PixelSurface(canvas, 10, 10, 1);
    surface.clip(0, 0, 5, 5, () => surface.markers("circle", [1, 1], 2, "#000000", null));
    surface.text(1, 1, "a", { colour: "#000000" });
    surface.rect(0, 0, 1, 1, "#000000");
    expect(calls).toEqual([]);
    surface.finish();
    expect(calls).toEqual(["pixels", "clip", "fill", "fillText"]);
  });
});

describe("a colour", () => {
  it("is read as the palette writes it", () => {
    expect(colourOf("#0072B2")).toEqual({ pixel: 0xffb27200, alpha: 1 });
    expect(colourOf("rgba(154,165,177,0.18)").alpha).toBe(0.18);
    expect(() => colourOf("red")).toThrow("red is no colour of a palette");
  });
});
