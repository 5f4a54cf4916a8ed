/** Where something stands, in pixels. */
export interface Placed {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Width of a letter in a monospaced font of 12 px. The value is slightly larger than the width in
 * any such font.
 */
const LETTER = 7.6;

/** How wide a text may become: letters of the East take two places. */
export function widthOf(text: string): number {
  const wide =
    /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f000}-\u{3fffd}]/u;
  return Math.ceil(
    [...text].reduce((sum, letter) => sum + (wide.test(letter) ? 2 : 1), 0) * LETTER,
  );
}

/** Length of the tip of an arrow. */
const TIP = 8;

export function svg(
  title: string,
  width: number,
  height: number,
  parts: readonly string[],
): string {
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" ${size}>`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="page" width="${width}" height="${height}"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

export function box({ x, y, width, height }: Placed, kind: string): string {
  return `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="4"/>`;
}

/** A box around other boxes. */
export function frame({ x, y, width, height }: Placed, kind: string): string {
  return `<path class="${kind}" d="M${x} ${y} h${width} v${height} h${-width} Z"/>`;
}

type Point = readonly [x: number, y: number];

/** A line through points, with a tip at its end. Its last part is horizontal or vertical. */
export function arrow(points: readonly [Point, Point, ...Point[]], kind: string): string[] {
  const [[x0, y0], [x1, y1]] = points.slice(-2) as [Point, Point];
  const [dx, dy] = [Math.sign(x1 - x0) * TIP, Math.sign(y1 - y0) * TIP];
  const [left, right] = [
    [x1 - dx - dy / 2, y1 - dy - dx / 2],
    [x1 - dx + dy / 2, y1 - dy + dx / 2],
  ];
  return [
    `<path class="${kind}" d="M${points.map((point) => point.join(' ')).join(' L')}"/>`,
    `<path class="tip" d="M${x1} ${y1} L${left?.join(' ')} L${right?.join(' ')} Z"/>`,
  ];
}

export function text(x: number, y: number, words: string, kind = 'text'): string {
  return `<text class="${kind}" x="${x}" y="${y}">${escaped(words)}</text>`;
}

/** From the right side of one to the left side of another. */
export function edge(from: Placed, to: Placed, kind: string): string {
  const [x1, y1] = [from.x + from.width, from.y + from.height / 2];
  const [x2, y2] = [to.x, to.y + to.height / 2];
  const bend = Math.round((x2 - x1) / 2);
  return `<path class="${kind}" d="M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}"/>`;
}

/** Characters that XML 1.0 excludes, or that move a cursor, are replaced. */
export function escaped(words: string): string {
  return words
    .replace(/\s/g, ' ')
    .replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd')
    .replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

interface Colours {
  readonly page: string;
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  readonly fill: string;
  readonly warm: string;
  readonly warmFill: string;
  readonly cool: string;
}

const LIGHT: Colours = {
  ...{ page: '#fff', ink: '#1b1f24', soft: '#57606a', line: '#8c959f', fill: '#f6f8fa' },
  ...{ warm: '#b35900', warmFill: '#fff4e5', cool: '#0b62c4' },
};

const DARK: Colours = {
  ...{ page: '#15181c', ink: '#e6e9ed', soft: '#9da7b1', line: '#6b7580', fill: '#22272e' },
  ...{ warm: '#f0a04b', warmFill: '#3a2a16', cool: '#69aef5' },
};

/** Written out, because what shows pictures outside of browsers knows no variables. */
const coloursIn = ({ page, ink, soft, line, fill, warm, warmFill, cool }: Colours): string => `
text { fill: ${ink}; }
.head, .small { fill: ${soft}; }
rect { fill: ${fill}; stroke: ${line}; }
.page { stroke: none; fill: ${page}; }
.role { fill: none; stroke: ${cool}; }
.crossing { fill: ${warmFill}; stroke: ${warm}; }
.inner { fill: none; stroke: ${warm}; }
path { fill: none; stroke: ${line}; }
.meta { stroke: ${ink}; }
.queue { stroke: ${warm}; }
.tip { fill: ${soft}; stroke: none; }
.flow { stroke: ${soft}; }
.writes, .reads { stroke: ${cool}; }
.refers { stroke: ${soft}; }`;

const STYLE = `
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }
.title, .strong, .head { font-weight: bold; }
.crossing { stroke-width: 2; }
.meta { stroke-width: 2; }
.flow { stroke-width: 1.4; }
.back { stroke-dasharray: 5 4; }
.writes { stroke-width: 1.6; }
.reads { stroke-dasharray: 5 4; }
.refers { stroke-dasharray: 1 3; stroke-width: 1.4; }
${coloursIn(LIGHT)}
@media (prefers-color-scheme: dark) {${coloursIn(DARK)}
}
`;
