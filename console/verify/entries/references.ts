import { isObject } from './basic-forms.ts';
import type { Delta, Observation, Payload, Stored } from './payloads.ts';

/** A reference of an entry to a blob, with its position in the payload. */
export interface Reference {
  readonly position: string;
  readonly hash: string;
  readonly bytes: number;
  readonly isSalted: boolean;
}

type Place = readonly [string, Stored];

/** The references of an entry, in the order of section 10 of the ledger reference. */
export function referencesOf(payload: Payload): readonly Reference[] {
  return placesOf(payload).flatMap(([position, value]) => {
    if (!isObject(value) || !('$blob' in value)) return [];
    const { $blob, bytes, salted } = value;
    return [{ position, hash: $blob as string, bytes: bytes as number, isSalted: salted === true }];
  });
}

function placesOf(payload: Payload): readonly Place[] {
  switch (payload.kind) {
    case 'root':
      return [['initial_state', payload.initial_state], ...itemsOf('sensitive', payload.sensitive)];
    case 'commit': {
      const { action, amended, delta, observations } = payload;
      return [
        ['action.args', action.args],
        ['amended.action.args', amended?.action.args],
        ['amended.difference', amended?.difference],
        ...deltaPlaces('delta', delta),
        ...observed('observations', observations),
      ];
    }
    case 'rejection': {
      const { args, calls, observations } = payload.intent;
      return [
        ['intent.args', args],
        ['intent.calls', calls],
        ...observed('intent.observations', observations),
      ];
    }
    case 'pending_approval': {
      const { action, delta, approval, observations, questions } = payload.proposal;
      return [
        ['proposal.action.args', action.args],
        ...deltaPlaces('proposal.delta', delta),
        ...itemsOf('proposal.approval', approval),
        ['proposal.questions', questions],
        ...observed('proposal.observations', observations),
      ];
    }
    case 'delegation': {
      const { begins, final_answer: answer } = payload;
      return [
        ['begins.initial_state', begins?.initial_state],
        ...itemsOf('begins.sensitive', begins?.sensitive),
        ['final_answer', answer],
      ];
    }
    default:
      return [];
  }
}

function deltaPlaces(at: string, { state, effects, beliefs }: Delta): readonly Place[] {
  return [
    ...itemsOf(`${at}.state`, state),
    ...effects.map(({ effect }, n): Place => [`${at}.effects[${n}].effect`, effect]),
    ...beliefs.flatMap(({ partition, insert, inherit }, n): readonly Place[] => [
      [`${at}.beliefs[${n}].partition`, partition],
      ...insert.map(({ object }, i): Place => [`${at}.beliefs[${n}].insert[${i}].object`, object]),
      ...(inherit?.rows ?? []).map(
        ({ object }, i): Place => [`${at}.beliefs[${n}].inherit.rows[${i}].object`, object],
      ),
    ]),
  ];
}

/** Where operations may refer to blobs: as a whole, or by the value of each item. */
function itemsOf(at: string, operations: Stored): readonly Place[] {
  if (!Array.isArray(operations)) return [[at, operations]];
  return operations.map(
    (one, n): Place => [`${at}[${n}].value`, isObject(one) ? one['value'] : undefined],
  );
}

function observed(at: string, observations: readonly Observation[]): readonly Place[] {
  return observations.map(({ value }, n): Place => [`${at}[${n}].value`, value]);
}
