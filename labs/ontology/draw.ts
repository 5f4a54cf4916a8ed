import { drawArchitecture } from './draw-architecture.ts';
import { invariantsOf } from './invariants.ts';
import type { Ontology } from './ontology.ts';
import { deriveRoles, type RoleOptions } from './roles.ts';
import { box, edge, type Placed, svg, text, widthOf } from './svg.ts';

/**
 * A picture of the domain, as SVG: the roles with their processes, the components of the state that
 * they read (dashed) and write, and the rules that refer to these. The rules are the meta-agent's.
 * It gets the proposals, and has a counselor queue if a rule escalates (figures 1, 5 and 8 of
 * the paper). Rules outside every role's slice are emphasised. Light or dark by the viewer's
 * setting. The same ontology gives the same text.
 *
 * @throws OntologyError `unsound`; ArgumentError `bad_argument`
 */
export function draw(ontology: Ontology, options: RoleOptions = {}): string {
  const derived = deriveRoles(ontology, options);
  const roles = rolesColumn(ontology, derived.roles);
  const components = componentsColumn(ontology, roles, roles.right + GAP);
  const invariants = invariantsOf(ontology, derived);
  const rules = rulesColumn(invariants, components.right + GAP);
  const edges = [
    ...touches(ontology, roles, components),
    ...references(ontology, components, rules),
  ];
  const below = Math.max(roles.bottom, components.bottom, rules.bottom);
  const architecture = drawArchitecture(invariants, {
    agents: { ...roles, bottom: roles.bottom - ROLE_GAP + PAD },
    metaAgent: rules,
    top: TOP,
    below,
  });
  const height = architecture.bottom + MARGIN;
  const legend = LEGEND.map((line, i) => text(MARGIN, height + (i + 1) * 18, line, 'small'));
  const heads = [
    text(MARGIN, TOP - 14, 'Roles and their processes', 'head'),
    text(components.left, TOP - 14, 'Slices of the state', 'head'),
    text(rules.left, TOP - 14, 'Meta-agent: invariants, in order', 'head'),
  ];
  const title = `${ontology.title || ontology.domain}: roles, slices and invariants`;
  // The title, or a line of the legend, may be wider than three small columns.
  const width =
    Math.max(architecture.right, ...[title, ...LEGEND].map((line) => MARGIN + widthOf(line))) +
    MARGIN;
  return svg(title, width, height + LEGEND.length * 18 + MARGIN, [
    text(MARGIN, MARGIN + 12, title, 'title'),
    ...heads,
    ...edges,
    ...architecture.drawn,
    ...roles.drawn,
    ...components.drawn,
    ...rules.drawn,
    ...legend,
  ]);
}

const MARGIN = 24;
/** Where the columns begin. */
const TOP = 88;
/** Between columns, for the edges. */
const GAP = 150;
const ROW = 24;
const PAD = 10;
/** From the last process of a role to the next role. */
const ROLE_GAP = 24;
const LEGEND = [
  'Solid: writes. Dashed: reads. Dotted: rule references.',
  'Thick and double: cross-cutting, contained in no role’s slice (A.10).',
];

interface Column {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly drawn: readonly string[];
  /** Where each thing stands, by its term. */
  readonly places: ReadonlyMap<string, Placed>;
}

function rolesColumn(
  { processes }: Ontology,
  roles: readonly {
    readonly name: string;
    readonly params: readonly string[];
    readonly processes: readonly string[];
  }[],
): Column {
  const headings = roles.map(({ name, params }) =>
    params.length === 0 ? name : `${name} for each ${params.join(', ')}`,
  );
  const width =
    Math.max(...[...headings, ...processes.map(({ process }) => process)].map(widthOf), 80) +
    4 * PAD;
  const places = new Map<string, Placed>();
  const drawn: string[] = [];
  let y = TOP;
  for (const [i, { processes: own }] of roles.entries()) {
    const height = (own.length + 1) * (ROW + 6) + PAD;
    drawn.push(
      box({ x: MARGIN, y, width, height }, 'role'),
      text(MARGIN + PAD, y + 20, headings[i] as string, 'strong'),
    );
    y += ROW + 6;
    for (const name of own) {
      const place = { x: MARGIN + PAD, y, width: width - 2 * PAD, height: ROW };
      const { term } = processes.find(({ process }) => process === name) as { term: string };
      places.set(term, place);
      drawn.push(box(place, 'process'), text(place.x + PAD, y + 16, name));
      y += ROW + 6;
    }
    y += ROLE_GAP;
  }
  return { left: MARGIN, right: MARGIN + width, bottom: y, drawn, places };
}

/** Each near those that touch it, so that edges cross seldom. */
function componentsColumn(ontology: Ontology, roles: Column, left: number): Column {
  const middle = (term: string): number => {
    const near = ontology.processes.filter(
      ({ reads, writes }) => reads.includes(term) || writes.includes(term),
    );
    const heights = near.map((one) => roles.places.get(one.term)?.y ?? 0);
    return heights.length === 0
      ? Number.MAX_SAFE_INTEGER
      : heights.reduce((a, b) => a + b) / heights.length;
  };
  const sorted = ontology.components.toSorted((a, b) => middle(a.term) - middle(b.term));
  const lines = sorted.map(({ label, term, paths }) => [label || term, paths.join('  ')] as const);
  const width = Math.max(...lines.flat().map(widthOf), 80) + 2 * PAD;
  const places = new Map(
    sorted.map(({ term }, i) => [
      term,
      { x: left, y: TOP + i * (2 * ROW + 2), width, height: 2 * ROW - 8 },
    ]),
  );
  const drawn = sorted.flatMap(({ term }, i) => {
    const place = places.get(term) as Placed;
    const [label, paths] = lines[i] as readonly [string, string];
    return [
      box(place, 'component'),
      text(left + PAD, place.y + 16, label),
      text(left + PAD, place.y + 33, paths, 'small'),
    ];
  });
  return { left, right: left + width, bottom: TOP + sorted.length * (2 * ROW + 2), drawn, places };
}

function rulesColumn(
  invariants: readonly {
    readonly id: string;
    readonly term: string;
    readonly crossCutting: boolean;
    readonly localTo: readonly string[];
    readonly meets: readonly string[];
    readonly meetsTwice: readonly string[];
  }[],
  left: number,
): Column {
  const lines = invariants.map(({ id, crossCutting, localTo, meets, meetsTwice }, i) => {
    const workers = meets.map((role) => (meetsTwice.includes(role) ? `each ${role}` : role));
    return [
      `${i + 1}  ${id}`,
      crossCutting
        ? `cross-cutting: overlaps ${workers.join(', ') || 'no role'}`
        : `local to ${localTo.join(', ')}`,
    ];
  });
  const width = Math.max(...lines.flat().map(widthOf), 80) + 2 * PAD;
  const places = new Map(
    invariants.map(({ term }, i) => [
      term,
      { x: left, y: TOP + i * (2 * ROW + 2), width, height: 2 * ROW - 8 },
    ]),
  );
  const drawn = invariants.flatMap(({ term, crossCutting }, i) => {
    const place = places.get(term) as Placed;
    const inner = {
      x: place.x + 3,
      y: place.y + 3,
      width: place.width - 6,
      height: place.height - 6,
    };
    const [id, where] = lines[i] as [string, string];
    return [
      box(place, crossCutting ? 'crossing' : 'rule'),
      ...(crossCutting ? [box(inner, 'inner')] : []),
      text(left + PAD, place.y + 16, id),
      text(left + PAD, place.y + 33, where, 'small'),
    ];
  });
  return {
    left,
    right: left + width,
    bottom: TOP + invariants.length * (2 * ROW + 2),
    drawn,
    places,
  };
}

function touches({ processes }: Ontology, roles: Column, components: Column): string[] {
  return processes.flatMap(({ term, reads, writes }) => {
    const from = roles.places.get(term);
    if (from === undefined) return [];
    const to = (terms: readonly string[], kind: string): string[] =>
      terms.flatMap((one) => {
        const place = components.places.get(one);
        return place === undefined ? [] : [edge(from, place, kind)];
      });
    return [
      ...to(
        reads.filter((one) => !writes.includes(one)),
        'reads',
      ),
      ...to(writes, 'writes'),
    ];
  });
}

function references({ rules }: Ontology, components: Column, column: Column): string[] {
  return rules.flatMap(({ term, refersTo }) =>
    refersTo.flatMap((one) => {
      const [from, to] = [components.places.get(one), column.places.get(term)];
      return from === undefined || to === undefined ? [] : [edge(from, to, 'refers')];
    }),
  );
}
