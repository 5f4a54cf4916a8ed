/**
 * The policy, in the order of its checks: the nine lines of Agentic Redux, Table 2, with three
 * rules for the commitment registry; the preconditions of processes; the decisions of people.
 * README.md names the source of each.
 */
import type { Invariant, Rules } from 'assize/internal/kernel';
import { commitmentRegistry } from './rules/commitment-registry.ts';
import { completeness } from './rules/completeness.ts';
import { confinement } from './rules/confinement.ts';
import { cve } from './rules/cve.ts';
import { embargo } from './rules/embargo.ts';
import { lifeCycle } from './rules/life-cycle.ts';
import { people } from './rules/people.ts';
import { rateLimit } from './rules/rate-limit.ts';
import { timeline } from './rules/timeline.ts';
import type { DisclosureState } from './schema.ts';

export function rules(given: Rules<DisclosureState>): readonly Invariant<DisclosureState>[] {
  return [
    ...rateLimit(given),
    ...commitmentRegistry(given),
    ...timeline(given),
    ...confinement(given),
    ...embargo(given),
    ...cve(given),
    ...completeness(given),
    ...lifeCycle(given),
    ...people(given),
  ];
}
