import { isRecord, type Json } from 'assize/internal/base';
import { callArgs, callIdOf } from '#gateway';
import type { MiningCall } from '../run.ts';
import type { Draft } from './draft.ts';

/** The circumstances of an action of the gateway, as its entry has them. */
export type Circumstances = Omit<MiningCall, 'tool' | 'args'> & { readonly at: string };

/** The calls of a trajectory of the gateway, with their parts, sessions and outcomes. */
export class GatewayCalls {
  readonly #byId: Map<string, readonly Draft[]> = new Map();
  readonly #parents: Map<string, string> = new Map();

  /** The calls of an action `call`: the call itself, and its parts. None if the form is another. */
  calls(args: Json, agent: string, circumstances: Circumstances): readonly Draft[] {
    const read = callArgs.safeParse(args);
    if (!read.success) return [];
    const { server, tool, parts = [], session } = read.data;
    const own = { server, tool, args: read.data.args };
    const drafts = [own, ...parts].map(
      (part): Draft => ({
        call: {
          ...circumstances,
          ...(part === own && { whole: read.data }),
          tool: `${part.server}/${part.tool}`,
          args: part.args as Json,
          principal: agent,
        },
        session: session ?? `${agent}@${circumstances.at.slice(0, 10)}`,
      }),
    );
    this.#byId.set(callIdOf(read.data, { agent, at: circumstances.at }), drafts);
    return drafts;
  }

  /** Notes a report of an outcome, or the start of a session. */
  note(action: string, args: Json): void {
    if (!isRecord(args)) return;
    const { call, outcome, session, parent } = args;
    if (action === 'report' && typeof call === 'string')
      for (const draft of this.#byId.get(call) ?? []) draft.call.outcome = outcome as 'done';
    if (action === 'session' && typeof session === 'string' && typeof parent === 'string')
      this.#parents.set(session, parent);
  }

  /** The session that started a session, or the one above that. */
  first(session: string): string {
    const seen = new Set([session]);
    let first = session;
    for (
      let next = this.#parents.get(first);
      next !== undefined && !seen.has(next);
      next = this.#parents.get(first)
    ) {
      seen.add(next);
      first = next;
    }
    return first;
  }
}
