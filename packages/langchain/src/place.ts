import type { Json } from 'assize/internal/base';

/** The part of a run's configuration that LangGraph and the caller fill. */
export type Configurable = Readonly<Record<string, unknown>>;

/** Where a call was asked for: the checkpoint from which its node was started. */
export interface CallPlace {
  readonly thread_id: string;
  readonly checkpoint_id?: string;
  /** The namespace of the checkpoint: empty for the outermost graph. */
  readonly checkpoint_ns: string;
  /** The namespace of the node that makes the call. */
  readonly task_ns: string;
}

/** The name of the observation that leads from an entry to its checkpoint. */
export const PLACE = 'langgraph';

/** The place of a node, from its configuration. Undefined without a thread. */
export function placeOf(configurable: Configurable): CallPlace | undefined {
  const { thread_id, checkpoint_ns, checkpoint_id, checkpoint_map } = configurable;
  const thread = textOf(thread_id);
  if (thread === undefined || thread === '') return undefined;
  const task = textOf(checkpoint_ns) ?? '';
  // The namespace of a node is the one of its graph, and then its own name and id.
  const graph = task.split('|').slice(0, -1).join('|');
  const started = (checkpoint_map as Configurable | undefined)?.[graph] ?? checkpoint_id;
  const checkpoint = textOf(started);
  return {
    thread_id: thread,
    ...(checkpoint !== undefined && { checkpoint_id: checkpoint }),
    checkpoint_ns: graph,
    task_ns: task,
  };
}

/** A place as an observation of a proposal. */
export function observed(place: CallPlace): { readonly name: string; readonly value: Json } {
  return { name: PLACE, value: { ...place } };
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : undefined;
}
