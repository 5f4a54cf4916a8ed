import { createHash } from 'node:crypto';
import type { Membership, OrderedEvent } from 'assize/internal/ledger';
import type { Session } from '../connection/session.ts';
import { storeError, unreachableError } from '../errors.ts';

/** A row of `effect_event`. */
type EventColumns = readonly [
  seq: number,
  fence: number,
  said: OrderedEvent['is'],
  number: number,
  claims: string | null,
];

/** A group membership that lasts as long as its connection. */
export interface ConnectedMembership extends Omit<Membership, 'release'> {
  /**
   * Announces the end before the connection ends. Never rejects: if the announcement fails, other
   * members notice the end of the connection.
   */
  leave(): Promise<void>;
}

/**
 * Joins the group of a store's effect log on a dedicated connection. The connection holds a lock
 * that shows the membership to other members, listens, and publishes events. The membership ends
 * with the connection.
 */
export function prepareJoin(
  { schema, path }: { readonly schema: string; readonly path: string },
  leaseMs: number,
): (session: Session) => Promise<ConnectedMembership> {
  // A hash instead of the schema's name with a prefix: a name in the server has at most 63
  // characters, and a schema's name can use them all.
  const channel = `effects ${createHash('sha256').update(schema).digest('hex').slice(0, 32)}`;
  const join = { text: `SELECT "${schema}".join_effects($1, $2)` };
  const share = {
    name: 'assize share',
    text: `SELECT "${schema}".share_effects($1, $2, $3, $4, $5, $6, $7, $8)`,
  };
  const leave = { text: `SELECT "${schema}".part_effects($1, $2)` };
  return async (session) => {
    // Later waits are short, and limited like any statement.
    await session.run({
      text: "SET lock_timeout = 0; SET default_transaction_isolation = 'read committed'",
    });
    await session.run({ text: `LISTEN "${channel}"` });
    const [joined] = await session.run(join, [leaseMs, channel]);
    const fence = Number(joined![0]);
    let isMember = true;
    /** The number of exchanges in flight or queued. */
    let saying = 0;
    /** The last request on the connection. It runs one request at a time. */
    let asked: Promise<unknown> = Promise.resolve();
    const inTurn = <T>(ask: () => Promise<T>): Promise<T> => {
      const answer = asked.then(ask);
      asked = answer.catch(() => undefined);
      return answer;
    };
    const exchange: Membership['exchange'] = async (heard, said, look) => {
      if (!session.isOpen) return undefined;
      const values = [
        fence,
        leaseMs,
        heard,
        said.map(({ is }) => is),
        said.map((each) => ('epoch' in each ? each.epoch : null)),
        said.map((each) => ('claims' in each ? (each.claims ?? null) : null)),
        look,
        channel,
      ];
      try {
        const [row] = await session.run(share, values);
        const happened = JSON.parse(row![0] ?? 'null') as readonly EventColumns[] | null;
        if (happened === null) isMember = false;
        return happened?.map(happeningOf);
      } catch (error) {
        isMember = false;
        throw storeError(error, path, 'Working on the effects of');
      }
    };
    return {
      fence,
      exchange: async (...given) => {
        saying++;
        try {
          return await inTurn(() => exchange(...given));
        } finally {
          saying--;
        }
      },
      whyEnded: () => (session.isOpen ? undefined : unreachableError(path, session.endedBy)),
      leave: async () => {
        // Not on a connection that may never answer.
        if (!isMember || saying > 0 || !session.isOpen) return;
        isMember = false;
        await inTurn(() => session.run(leave, [fence, channel])).catch(() => undefined);
      },
      onEvents: (listener) => {
        // A member also receives its own notifications, and ignores them.
        session.onNotification(({ payload }) => {
          if (payload !== `${fence}`) listener();
        });
        session.onEnd(listener);
      },
    };
  };
}

function happeningOf([seq, fence, is, number, claims]: EventColumns): OrderedEvent {
  if (is === 'taken') return { seq, fence, is, gone: number };
  if (is === 'begun' || is === 'grown' || is === 'given')
    return { seq, fence, is, epoch: number, claims: claims! };
  if (is === 'left' && claims !== null) return { seq, fence, is, epoch: number, claims };
  return { seq, fence, is, epoch: number };
}
