import type { IncidentState } from '../../../../packages/audit/src/incident-domain/index.ts';

/** A state with an approved incident of three steps. The first one is done. */
export function approvedIncident(): IncidentState {
  const at = '2026-03-23T09:00:00.000000Z';
  const hash = 'a'.repeat(64);
  return {
    incidents: {
      i: {
        ...{
          start: { writ: hash },
          because: 'the key leaked',
          openedBy: 'human:ops',
          openedAt: at,
          approvedBy: 'human:ida',
        },
        steps: [
          { kind: 'revoke', trajectory: 't', writ: hash },
          {
            ...{
              kind: 'retract',
              trajectory: 't',
              space: 's',
              subject: 'ida',
              predicate: 'likes',
              object: 'tea',
            },
            ...{ fact: 'f', entry: hash },
          },
          { kind: 'halt', trajectory: 't' },
        ],
        remains: [
          { what: 'a letter', entry: hash, why: 'it was sent', advice: 'write another one' },
        ],
        outcomes: { 0: { outcome: 'done', at } },
      },
    },
  };
}
