import { ascents } from './categories.ts';
import { requireSound } from './check.ts';
import type { Continuant, Ontology } from './ontology.ts';
import { box, edge, type Placed, svg, text, widthOf } from './svg.ts';

const MARGIN = 24;
const PAD = 10;
const ROW = 44;
const HEIGHT = 34;
const TOP = 84;
const GAP = 140;

/** Things that have one relation to the continuant. */
interface Group {
  readonly head: string;
  readonly items: readonly Item[];
}

interface Item {
  readonly name: string;
  readonly note: string;
  /** Shown without an edge. */
  readonly isUnrelated?: boolean;
}

/**
 * A picture of the primary continuant with its relations (figure 6 of the paper), as SVG: the
 * qualities and roles that it bears, the information about it, the processes in which it takes
 * part, and the other continuants, with an edge if they share one of these. The same ontology gives
 * the same text.
 *
 * @throws OntologyError `unsound`; ArgumentError `bad_argument`
 */
export function drawContinuant(ontology: Ontology): string {
  requireSound(ontology);
  // A sound ontology has one primary continuant.
  const primary = ontology.continuants.find((one) => one.primary) as Continuant;
  const name = primary.label || primary.term;
  const borne = groupsAt([...borneBy(ontology, primary), processesOf(ontology, primary)], MARGIN);
  const middle = borne.right + GAP;
  const width = widthOf(name) + 4 * PAD;
  const known = groupsAt(
    [informationOn(ontology, primary), others(ontology, primary)],
    middle + width + GAP,
  );
  const bottom = Math.max(borne.bottom, known.bottom);
  const centre = { x: middle, y: (TOP + bottom - HEIGHT) / 2, width, height: HEIGHT + PAD };
  const title = `${ontology.title || ontology.domain}: the ${name} and its relations`;
  return svg(title, Math.max(known.right, MARGIN + widthOf(title)) + MARGIN, bottom + MARGIN, [
    text(MARGIN, MARGIN + 12, title, 'title'),
    ...borne.places.map((place) => edge(place, centre, 'writes')),
    ...known.places.map((place) => edge(centre, place, 'writes')),
    ...borne.drawn,
    ...known.drawn,
    box(centre, 'crossing'),
    text(middle + 2 * PAD, centre.y + 27, name, 'strong'),
  ]);
}

/** The qualities and dispositions, and the roles (Remark A.4), that inhere in it (RO_0000052). */
function borneBy(ontology: Ontology, { term }: Continuant): Group[] {
  const above = ascents(ontology);
  const borne = ontology.components.filter(({ inheresIn }) => inheresIn.includes(term));
  const isRole = (one: { readonly term: string }): boolean =>
    above.get(one.term)?.categories.has('role') === true;
  return [
    {
      head: 'Qualities that inhere in it',
      items: borne.filter((one) => !isRole(one)).map(componentItem),
    },
    { head: 'Roles that it bears', items: borne.filter(isRole).map(componentItem) },
  ];
}

function informationOn({ components }: Ontology, { term }: Continuant): Group {
  return {
    head: 'Information content entities about it',
    items: components.filter(({ about }) => about.includes(term)).map(componentItem),
  };
}

function processesOf({ processes, continuants }: Ontology, { term }: Continuant): Group {
  const labels = new Map(continuants.map((one) => [one.term, one.label || one.term]));
  return {
    head: 'Processes in which it takes part',
    items: processes
      .filter(({ participants }) => participants.includes(term))
      .map(({ process, participants }) => {
        const others = participants
          .filter((one) => one !== term)
          .map((one) => labels.get(one) ?? one);
        return { name: process, note: others.length === 0 ? '' : `with ${others.join(', ')}` };
      }),
  };
}

function others({ continuants, processes, components }: Ontology, { term }: Continuant): Group {
  return {
    head: 'Other continuants',
    items: continuants
      .filter((one) => one.term !== term)
      .map((one) => {
        const together = processes.filter(({ participants }) =>
          [term, one.term].every((it) => participants.includes(it)),
        );
        const about = components.filter((component) => component.about.includes(one.term));
        const isUnrelated =
          together.length === 0 && !about.some((component) => component.about.includes(term));
        const [happen, tell] = [
          counted(together.length, 'process', 'processes'),
          counted(about.length, 'component', 'components'),
        ];
        return {
          name: one.label || one.term,
          note: `${happen} in common, ${tell} about it`,
          isUnrelated,
        };
      }),
  };
}

function counted(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`;
}

function componentItem({ label, term, paths }: Ontology['components'][number]): Item {
  return { name: label || term, note: paths.join('  ') };
}

function groupsAt(
  groups: readonly Group[],
  left: number,
): {
  readonly drawn: string[];
  readonly places: Placed[];
  readonly right: number;
  readonly bottom: number;
} {
  const shown = groups.filter(({ items }) => items.length > 0);
  const lines = shown.flatMap(({ head, items }) => [
    head,
    ...items.flatMap(({ name, note }) => [name, note]),
  ]);
  const width = Math.max(80, ...lines.map(widthOf)) + 2 * PAD;
  const drawn: string[] = [];
  const places: Placed[] = [];
  let y = TOP;
  for (const { head, items } of shown) {
    drawn.push(text(left, y - 8, head, 'head'));
    for (const { name, note, isUnrelated = false } of items) {
      const place = { x: left, y, width, height: note === '' ? HEIGHT - 10 : HEIGHT + 4 };
      if (!isUnrelated) places.push(place);
      drawn.push(box(place, 'component'), text(left + PAD, y + 16, name));
      if (note !== '') drawn.push(text(left + PAD, y + 31, note, 'small'));
      y += note === '' ? ROW - 10 : ROW;
    }
    y += 40;
  }
  return { drawn, places, right: left + width, bottom: y - 40 };
}
