import { isRecord, type Json } from 'assize/internal/base';
import type { Entry, Observation, Replayer, Stored } from 'assize/internal/ledger';
import type { MiningCall } from '../run.ts';
import type { Draft } from './draft.ts';

/** The circumstances of an action of any domain. */
type Circumstances = Omit<MiningCall, 'tool' | 'args'>;

/** The observations and the effects of an action. */
export interface MadeWith {
  readonly observations: readonly Observation[];
  readonly effects?: readonly { readonly effect: Stored }[];
}

const READ_INPUT = /^([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*)#(?:\d+\.\d+\/)*\d+\.input$/;

/**
 * The calls of an action in their order: the tools that were read before it, the action, and the
 * changing calls of tools. An observation `{arguments}` is a reading of the tool that it names.
 * Erased values are left out.
 */
export async function actionCalls(
  { values }: Replayer,
  entry: Entry,
  own: { readonly name: string; readonly args: Json },
  { observations, effects = [] }: MadeWith,
  circumstances: Circumstances,
): Promise<Draft[]> {
  const { approvedBy: _, ...unapproved } = circumstances;
  const drafts: Draft[] = [];
  // A reading takes place whatever the ruling on the action is.
  const addRead = (tool: string, args: Json): void => {
    drafts.push({ call: { ...unapproved, tool, args, ruling: 'committed', outcome: 'done' } });
  };
  for (const { name, value: stored } of observations) {
    const value = stored === undefined ? undefined : await read(values, entry, stored);
    const tool = READ_INPUT.exec(name)?.[1];
    if (tool !== undefined && value !== undefined) addRead(tool, value);
    else if (isRecord(value) && isRecord(value['arguments']))
      addRead(name, value['arguments'] as Json);
  }
  drafts.push({ call: { ...circumstances, tool: own.name, args: own.args } });
  for (const { effect } of effects) {
    const made = await read(values, entry, effect);
    if (isRecord(made) && typeof made['tool'] === 'string' && made['input'] !== undefined)
      drafts.push({ call: { ...circumstances, tool: made['tool'], args: made['input'] as Json } });
  }
  return drafts;
}

async function read(
  values: Replayer['values'],
  entry: Entry,
  stored: Stored,
): Promise<Json | undefined> {
  const found = await values.read(entry, stored);
  return 'value' in found ? found.value : undefined;
}
