import {
  ANY_COUNSELOR,
  contains,
  type Domain,
  type Escalated,
  overlaps,
  type Pattern,
  parseTemplate,
  patternFromText,
} from 'assize/internal/kernel';

/** The work of others that a pending proposal stops, by the invariant that asks for approval. */
export interface StoppedBy {
  /** The id of the invariant. */
  readonly invariant: string;
  /** The kind of counselor that decides, or `any`. */
  readonly channel: string;
  /** The whole state, or the places whose changes wait, with `*` for any key. */
  readonly places: 'world' | readonly string[];
  /** Whether only changes of the same members wait: the domain has `freeze: 'reserve'`. */
  readonly isReserved: boolean;
  /** The actions with waiting proposals. */
  readonly actions: readonly string[];
}

/** Collects what the escalations of the trials stop, by invariant. */
export class Stops {
  readonly #domain: Domain;
  readonly #collections: readonly Pattern[];
  readonly #seen: Map<
    string,
    { readonly channel: string; readonly places: Set<string>; isWorld: boolean }
  > = new Map();

  constructor(domain: Domain) {
    this.#domain = domain;
    this.#collections = [
      ...domain.rules.flatMap(({ patterns }) => patterns),
      ...Object.values(domain.processes).flatMap(({ writes = [] }) => writes.map(patternOf)),
    ].sort((a, b) => b.segments.length - a.segments.length);
  }

  note({ invariantId, channel, freezes }: Escalated): void {
    if (invariantId === undefined) return;
    const seen = this.#seen.get(invariantId) ?? { channel, places: new Set(), isWorld: false };
    this.#seen.set(invariantId, seen);
    if (freezes === 'world') seen.isWorld = true;
    else
      for (const place of freezes)
        seen.places.add(textOf(this.#generalised(patternFromText(place))));
  }

  /** In the order of the invariants. */
  list(): StoppedBy[] {
    return this.#domain.rules.flatMap(({ id }) => {
      const seen = this.#seen.get(id);
      if (seen === undefined) return [];
      const places = seen.isWorld ? ('world' as const) : widest([...seen.places].sort());
      const isReserved = this.#domain.freeze === 'reserve';
      return [
        {
          invariant: id,
          channel: seen.channel,
          places,
          isReserved,
          actions: this.#actionsOf(places),
        },
      ];
    });
  }

  /** The longest pattern that leads to a place, without the keys of one state. */
  #generalised(place: Pattern): Pattern {
    const isAbove = ({ segments }: Pattern): boolean => segments.length <= place.segments.length;
    return (
      this.#collections.find((pattern) => isAbove(pattern) && overlaps(pattern, place)) ?? place
    );
  }

  #actionsOf(places: StoppedBy['places']): string[] {
    const { actions, processes, freeze } = this.#domain;
    const names = Object.keys(actions);
    if (places === 'world') return names;
    const stopped = places.map(patternFromText);
    return names.filter((name) => {
      const { reads = [], writes = [] } = processes[actions[name]?.process as string] ?? {};
      const touched = (freeze === 'reserve' ? writes : [...reads, ...writes]).map(patternOf);
      return touched.some((one) => stopped.some((other) => overlaps(one, other)));
    });
  }
}

/** In words, for a report. */
export function stoppedText({
  invariant,
  channel,
  places,
  isReserved,
  actions,
}: StoppedBy): string {
  const who = channel === ANY_COUNSELOR ? 'a counselor' : channel;
  const begins = `While a proposal waits for ${who} (${invariant})`;
  if (places === 'world') return `${begins}, every other proposal waits.`;
  if (actions.length === 0) return `${begins}, no other proposal waits.`;
  const which = isReserved ? 'change the same member of' : 'touch';
  return `${begins}, proposals that ${which} ${places.join(', ')} wait (${actions.join(', ')}).`;
}

/** Without the places under others. */
function widest(places: readonly string[]): string[] {
  const patterns = places.map(patternFromText);
  return places.filter(
    (_, i) => !patterns.some((other, j) => j !== i && contains([other], patterns[i] as Pattern)),
  );
}

function patternOf(template: string): Pattern {
  const { segments, append } = parseTemplate(template);
  return {
    segments: segments.map((segment) => (typeof segment === 'object' ? STAR : segment)),
    append,
  };
}

const STAR = patternFromText('/*').segments[0] as Pattern['segments'][number];

function textOf({ segments }: Pattern): string {
  return segments.map((segment) => `/${typeof segment === 'string' ? segment : '*'}`).join('');
}
