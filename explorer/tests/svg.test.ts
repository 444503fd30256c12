import { describe, expect, it } from "vitest";
import { escaped, SvgSurface } from "../src/draw/svg";

describe("an SVG", () => {
  it("takes no text for markup, and no control character", () => {
    const surface = new SvgSurface(100, 50);
    surface.text(1, 2, `<script>alert("1")</script>\u0000\u001b`, { colour: `"/><b x="` });
    const written = surface.document(`a & b </title>`, "#ffffff");
    expect(written).not.toContain("<script");
    expect(written).not.toContain("<b ");
    expect(written).not.toMatch(/[\u0000\u001b]/);
    expect(written).toContain("a &amp; b &lt;/title&gt;");
  });

  it("writes what is drawn, to hundredths of a pixel", () => {
    const surface = new SvgSurface(100, 50);
    surface.rects([1, 2, 3, 4], "#000000");
    surface.polyline([0, 0, 10.123456, 5], "#ff0000", 2);
    surface.clip(0, 0, 9, 9, () => surface.markers("diamond", [5, 5], 1, "#00ff00", "#ffffff"));
    const written = surface.document("t", "#ffffff");
    expect(written).toContain('d="M1 2h3v4h-3z"');
    expect(written).toContain('d="M0 0L10.12 5"');
    expect(written).toMatch(/<clipPath id="clip-0">[^]*<g clip-path="url\(#clip-0\)">\n<path[^>]*\/>\n<\/g>/);
  });

  it("escapes what XML has a meaning for", () => {
    expect(escaped(`<>&"'`)).toBe("&lt;&gt;&amp;&quot;&#39;");
  });
});
