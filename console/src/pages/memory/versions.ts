import { visible } from 'assize/internal/views/visible.ts';
import { OPEN_END } from '../../parts/times.ts';
import type { Fact } from './memory-queries.ts';

/**
 * `believed`: the memory holds it now. `replaced`: it was held, and a later statement changed its
 * period or object. `lost`: it was held until it lost a contradiction. `refused`: it lost one from
 * the start.
 */
export type Standing = 'believed' | 'replaced' | 'lost' | 'refused';

/** A version of a fact as the plot and the table show it. */
export interface Version {
  readonly name: string;
  readonly fact: Fact;
  /** The stated object. Undefined if it was erased. */
  readonly object: string | undefined;
  readonly standing: Standing;
}

/**
 * The versions of one key, oldest belief first. A lost contradiction joins the version that it
 * ended.
 */
export function versionsOf(facts: readonly Fact[]): Version[] {
  const audits = facts.filter((fact) => fact.row_kind === 'audit');
  const held = facts.filter((fact) => fact.row_kind === 'current');
  const endedBy = (fact: Fact) => audits.filter((audit) => isEnding(audit, fact));
  const joined = new Set(held.flatMap(endedBy));
  return facts
    .filter((fact) => !joined.has(fact))
    .map((fact): Version => {
      const name = nameOf(fact);
      if (fact.row_kind === 'audit')
        return { name, fact, object: lostObject(fact), standing: 'refused' };
      const isNow = fact.system_time_end === OPEN_END;
      const standing = isNow ? 'believed' : endedBy(fact).length > 0 ? 'lost' : 'replaced';
      return { name, fact, object: fact.object, standing };
    })
    .sort(
      (a, b) =>
        order(a.fact.system_time_start, b.fact.system_time_start) ||
        order(a.fact.valid_from, b.fact.valid_from),
    );
}

/** Two versions of one fact start at different times. */
export function nameOf({
  fact_id,
  system_time_start,
}: Pick<Fact, 'fact_id' | 'system_time_start'>): string {
  return `${system_time_start} ${fact_id}`;
}

/** The object as one line of text. */
export function objectText({ object }: Version): string {
  return object === undefined ? 'erased' : visible(object);
}

function isEnding(audit: Fact, fact: Fact): boolean {
  return (
    audit.lineage === fact.lineage &&
    audit.system_time_start === fact.system_time_end &&
    audit.valid_from < fact.valid_to &&
    fact.valid_from < audit.valid_to
  );
}

/** An audit row has the contradiction as its object, with all candidates. */
function lostObject({ object, lineage }: Fact): string | undefined {
  try {
    const { members = [] } = JSON.parse(object) as {
      readonly members?: readonly { readonly claim: string; readonly object: string }[];
    };
    return members.find(({ claim }) => claim === lineage)?.object;
  } catch {
    return undefined;
  }
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
