import { arg, checkArgument } from 'assize/internal/base';
import { arrow, box, edge, frame, type Placed, svg, text, widthOf } from '../svg.ts';
import { type AlignedSteps, alignPaths, type Trait } from './align-paths.ts';
import type { HappyPath, PathStep } from './happy-path.ts';
import type { Isomorphism } from './isomorphism.ts';

const MARGIN = 24;
const PAD = 10;
const LINE = 17;
/** From the top of a row of steps to the top of the next one. */
const BOX = 4 * LINE + PAD;
const STEP = BOX + 26;
const TOP = 104;
/** The least room between the columns, for the lines of aligned steps with their differences. */
const GAP_MIN = 120;
/** Characters of a list in a box. */
const LIST_MAX = 44;
const LEGEND = [
  'Thick and double: passes only with a counselor. Dashed: exception handler, beside the path.',
  'Dotted: aligned steps, with their differences. A step without one has no counterpart.',
];

const texts = arg.list(arg.text);
const ISOMORPHISM = arg.members({
  level: arg.text,
  isomorphic: arg.of('true or false', (value) => typeof value === 'boolean'),
  mapping: arg.list(arg.members({ kind: arg.text, a: arg.text, b: arg.text })),
  differences: texts,
});

/**
 * A picture of two happy paths side by side (figure 7 of the paper), as SVG, with their exception
 * handlers and the mapping of their architectures. The same arguments give the same text.
 *
 * @throws ArgumentError `bad_argument`
 */
export function drawComparison(a: HappyPath, b: HappyPath, architectures: Isomorphism): string {
  const rows = alignPaths(a, b);
  checkArgument(ISOMORPHISM, architectures, 'architectures');
  const left = column(a, MARGIN);
  const said = rows.flatMap(({ differences }) =>
    differences.map(({ only, trait }) => saidOf(only, trait, a, b)),
  );
  const gap = Math.max(GAP_MIN, ...said.map(widthOf)) + 4 * PAD;
  const right = column(b, left.left + left.width + gap);
  const steps = [stepsOf(rows, 'a', left), stepsOf(rows, 'b', right)] as const;
  const below = TOP + rows.length * STEP + LINE;
  const handlers = [handlersOf(a, left, below), handlersOf(b, right, below)] as const;
  const mapping = mappingAt(
    architectures,
    Math.max(...handlers.map(({ bottom }) => bottom)) + LINE,
    left,
    right,
  );
  const title = `Happy paths of ${a.domain} and ${b.domain}`;
  const legend = LEGEND.map((line, i) =>
    text(MARGIN, mapping.bottom + (i + 2) * LINE, line, 'small'),
  );
  const widest = Math.max(
    right.left + right.width,
    ...[title, ...LEGEND].map((line) => MARGIN + widthOf(line)),
  );
  return svg(title, widest + MARGIN, mapping.bottom + (LEGEND.length + 2) * LINE + MARGIN, [
    text(MARGIN, MARGIN + 12, title, 'title'),
    ...[headOf(a, left), headOf(b, right)].flat(),
    ...linksOf(rows, steps, [a, b]),
    ...steps.flatMap(({ drawn }) => drawn),
    ...handlers.flatMap(({ drawn }) => drawn),
    ...mapping.drawn,
    ...legend,
  ]);
}

interface Column {
  readonly left: number;
  readonly width: number;
}

interface Drawn {
  readonly drawn: readonly string[];
  readonly bottom: number;
}

function column(path: HappyPath, left: number): Column {
  const lines = [...headings(path), ...[...path.steps, ...path.beside].flatMap(linesOf)];
  return { left, width: Math.max(...lines.map(widthOf)) + 2 * PAD };
}

const SAYS: Readonly<Record<HappyPath['counselor'], string>> = {
  'on the path': 'counselor: on the path',
  beside: 'counselor: exception handler',
  none: 'counselor: none',
  open: 'counselor: open, not all is reached',
};

function headings({ domain, continuant, counselor }: HappyPath): string[] {
  return [`${domain}: the ${continuant}`, SAYS[counselor]];
}

function headOf(path: HappyPath, { left }: Column): string[] {
  const [name = '', counselor = ''] = headings(path);
  return [text(left, TOP - 32, name, 'strong'), text(left, TOP - 14, counselor, 'small')];
}

function linesOf({ process, role, writes, rules, escalations, passes }: PathStep): string[] {
  const asked = escalations.map(({ counselor }) => counselor);
  const way = passes === 'with a counselor' ? 'passes by' : 'may ask';
  return [
    process,
    `by ${role}`,
    `writes ${shortList(writes)}`,
    `${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}${asked.length === 0 ? '' : `, ${way} ${[...new Set(asked)].join(', ')}`}${suffixOf(passes)}`,
  ];
}

function suffixOf(passes: PathStep['passes']): string {
  return passes === 'not reached' ? ', not reached' : '';
}

function shortList(terms: readonly string[]): string {
  const names = terms.map((term) => term.replace(/^:/, ''));
  const fits = names.filter((_, i) => names.slice(0, i + 1).join(', ').length <= LIST_MAX);
  const shown = fits.length > 0 ? fits : names.slice(0, 1);
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Where each step of a path stands, by its row. */
interface Steps {
  readonly places: readonly (Placed | undefined)[];
  readonly drawn: readonly string[];
}

function stepsOf(rows: readonly AlignedSteps[], side: 'a' | 'b', { left, width }: Column): Steps {
  const places = rows.map((row, i) =>
    row[side] === undefined ? undefined : { x: left, y: TOP + i * STEP, width, height: BOX },
  );
  const present = places.filter((place) => place !== undefined);
  const flows = present.slice(1).flatMap((to, i) => {
    const from = present[i] as Placed;
    const x = left + width / 2;
    return arrow(
      [
        [x, from.y + from.height],
        [x, to.y],
      ],
      'flow',
    );
  });
  const boxes = rows.flatMap((row, i) => {
    const [step, place] = [row[side], places[i]];
    return step === undefined || place === undefined ? [] : stepAt(step, place);
  });
  return { places, drawn: [...flows, ...boxes] };
}

function stepAt(step: PathStep, place: Placed): string[] {
  const isAsking = step.passes === 'with a counselor';
  const inner = {
    x: place.x + 3,
    y: place.y + 3,
    width: place.width - 6,
    height: place.height - 6,
  };
  return [
    box(place, isAsking ? 'crossing' : 'component'),
    ...(isAsking ? [box(inner, 'inner')] : []),
    ...wordsAt(step, place),
  ];
}

function wordsAt(step: PathStep, { x, y }: Placed): string[] {
  return linesOf(step).map((line, i) =>
    text(x + PAD, y + (i + 1) * LINE + 2, line, i === 0 ? 'strong' : 'small'),
  );
}

function saidOf(only: 'a' | 'b', trait: Trait, a: HappyPath, b: HappyPath): string {
  return `${only === 'a' ? a.domain : b.domain} ${trait}`;
}

function linksOf(
  rows: readonly AlignedSteps[],
  [left, right]: readonly [Steps, Steps],
  [a, b]: readonly [HappyPath, HappyPath],
): string[] {
  return rows.flatMap(({ differences }, i) => {
    const [from, to] = [left.places[i], right.places[i]];
    if (from === undefined || to === undefined) return [];
    const said = differences.map(({ only, trait }) => saidOf(only, trait, a, b));
    const words = said.length === 0 ? ['the same traits'] : said;
    const middle = (from.x + from.width + to.x) / 2;
    return [
      edge(from, to, 'refers'),
      ...words.map((line, n) =>
        text(
          middle - widthOf(line) / 2,
          from.y + BOX / 2 - 6 - (words.length - 1 - n) * 14,
          line,
          'small',
        ),
      ),
    ];
  });
}

function handlersOf({ beside }: HappyPath, { left, width }: Column, top: number): Drawn {
  if (beside.length === 0) return { drawn: [], bottom: top };
  const places = beside.map((_, i) => ({
    x: left,
    y: top + LINE + i * (BOX + PAD),
    width,
    height: BOX,
  }));
  const drawn = beside.flatMap((step, i) => {
    const place = places[i] as Placed;
    return [frame(place, 'queue back'), ...wordsAt(step, place)];
  });
  return {
    drawn: [text(left, top + 6, 'Beside the path: exception handlers', 'head'), ...drawn],
    bottom: top + LINE + beside.length * (BOX + PAD),
  };
}

function mappingAt(
  { level, isomorphic, mapping, differences }: Isomorphism,
  top: number,
  left: Column,
  right: Column,
): Drawn {
  const said = isomorphic ? 'isomorphic' : `not isomorphic: ${differences.join('; ')}`;
  const head = text(left.left, top + LINE, `Architectures as ${level}s: ${said}`, 'head');
  const rows = mapping.flatMap(({ kind, a, b }, i) => {
    const y = top + (i + 2) * LINE + 4;
    const from = { x: left.left, y: y - LINE, width: widthOf(a), height: LINE + 8 };
    const to = { x: right.left, y: y - LINE, width: 0, height: LINE + 8 };
    return [
      edge({ ...from, width: from.width + PAD }, { ...to, x: to.x - PAD }, 'refers'),
      text(from.x, y, a),
      text(to.x, y, b),
      text(to.x + widthOf(b) + PAD, y, kind, 'small'),
    ];
  });
  return { drawn: [head, ...rows], bottom: top + (mapping.length + 2) * LINE };
}
