/** The Reporter Coordination Agent: reports, receipts, embargoes. */
import { z } from 'zod';
import { type DisclosureState, days, id, type Submission, sha256, text } from '../schema.ts';
import { addDays } from '../time.ts';
import { action } from './action.ts';

interface Entry {
  readonly organisation: string;
  readonly maintainer: string;
  readonly vulnerability: string;
}

export function entryOf(
  state: DisclosureState,
  { organisation, maintainer, vulnerability }: Entry,
): Submission {
  const entry = state.queue[organisation]?.[maintainer]?.[vulnerability];
  if (entry === undefined)
    throw new Error(`${vulnerability} is not in the queue for ${maintainer} of ${organisation}`);
  return entry;
}

export const reporter = {
  submit_report: action({
    process: 'SubmitReport',
    description:
      'Report a vulnerability to its maintainer. `digest` is the SHA-256 of what was sent.',
    args: z.object({ digest: sha256 }),
    apply: (state, { digest }, { role, at }) => {
      const { organisation, maintainer, vulnerability } = role;
      const entry = entryOf(state, role);
      if (entry.submitted !== undefined)
        throw new Error(`${vulnerability} has been reported already`);
      const reports = state.reports[organisation]?.[maintainer];
      if (reports === undefined) throw new Error(`there is no list of reports to ${maintainer}`);
      entry.submitted = { at, n: reports.length, digest };
      if (entry.phase === 'DISCOVERED' || entry.phase === 'TRIAGED') entry.phase = 'REPORTED';
      reports.push({ vulnerability, at, limit: state.settings.rate_limit.reports });
    },
  }),

  acknowledge_report: action({
    process: 'NegotiateEmbargo',
    description: 'Record the receipt with which the receiving organisation acknowledged a report.',
    args: z.object({ reference: text }),
    apply: (state, { reference }, { role, at }) => {
      const entry = entryOf(state, role);
      if (entry.submitted === undefined)
        throw new Error(`${role.vulnerability} has not been reported`);
      if (entry.receipt !== undefined)
        throw new Error(`there is a receipt already: ${entry.receipt.reference}`);
      entry.receipt = { at, reference };
      if (entry.phase === 'REPORTED') entry.phase = 'ACKNOWLEDGED';
    },
  }),

  begin_embargo: action({
    process: 'NegotiateEmbargo',
    description:
      'Start an embargo: agreed with the receipt, or without a receipt after the days for a reply.',
    args: z.object({ regime: id }),
    apply: (state, { regime }, { role, at }) => {
      const entry = entryOf(state, role);
      if (entry.submitted === undefined)
        throw new Error(`${role.vulnerability} has not been reported`);
      if (entry.embargo !== undefined)
        throw new Error(`it is under embargo until ${entry.embargo.deadline} already`);
      const { days } = state.settings.embargo.regimes[regime] ?? {};
      if (days === undefined) throw new Error(`there is no embargo regime ${regime}`);
      entry.embargo = {
        regime,
        days,
        deadline: addDays(entry.submitted.at, days),
        at,
        extensions: [],
      };
      if (entry.phase !== 'DISCLOSED') entry.phase = 'EMBARGOED';
    },
  }),

  extend_embargo: action({
    process: 'NegotiateEmbargo',
    description: 'Extend an embargo. A coordinator decides beyond the allowed days.',
    args: z.object({ days, reason: text }),
    apply: (state, { days, reason }, { role, at }) => {
      const { phase, embargo } = entryOf(state, role);
      if (phase !== 'EMBARGOED' || embargo === undefined)
        throw new Error(`${role.vulnerability} is not under embargo`);
      embargo.extensions.push({ days, reason, at });
      embargo.deadline = addDays(embargo.deadline, days);
    },
  }),
};
