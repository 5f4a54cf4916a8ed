/**
 * A service of Restate that pays: `node restate-program.ts ASKED`. It dies where its test wants it,
 * and says each event as a line of JSON.
 */

import { connectGate } from '@assize/gate/internal/calls';
import * as restate from '@restatedev/restate-sdk';
import { restateOnce } from '../../src/index.ts';
import { type Death, dyingGate, pay } from './dying.ts';
import type { ShopFiles } from './shop.ts';

export interface AskedOfRestate {
  readonly files: ShopFiles;
  readonly port: number;
  readonly death?: Death;
  /** How long an invocation waits before it asks again. */
  readonly askAgainMs?: number;
  /** An address at which no ledger answers. */
  readonly url?: string;
}

interface Bill {
  readonly how: 'bare' | 'once' | 'idempotent';
  readonly to: string;
  readonly cents: number;
  readonly run?: string;
}

const {
  files,
  port,
  death,
  askAgainMs = 20,
  url,
} = JSON.parse(process.argv[2] as string) as AskedOfRestate;
const say = (event: object): void => void process.stdout.write(`${JSON.stringify(event)}\n`);

const gate =
  url === undefined
    ? await dyingGate(files, death)
    : connectGate({ url, token: 't', server: 'shop', inFlightMs: 50 });
const once = restateOnce(gate, restate, {
  ...{ askAgainMs, askAgainMaxMs: askAgainMs },
  onPending: (held) => say({ held }),
  onDoubt: (doubtful) => say({ doubtful }),
});

const bills = restate.service({
  name: 'bills',
  handlers: {
    pay: async (ctx: restate.Context, { how, to, cents, run }: Bill) => {
      say({ attempt: ctx.request().id });
      if (how === 'bare')
        return ctx.run('pay', () => pay(files, { to, cents, key: 'bare' }, death));
      const call = {
        key: 'pay',
        tool: 'pay',
        args: { to, cents },
        ...(run !== undefined && { run }),
      };
      return once(ctx, call, ({ args, key }) => pay(files, { ...args, key }, death), {
        idempotent: how === 'idempotent',
      });
    },
    wake: async (ctx: restate.Context, invocation: string) => {
      const id = restate.InvocationIdParser.fromString(invocation);
      ctx.invocation(id).signal('assize:pay').resolve({ decision: 'approve' });
    },
  },
});

await restate.serve({ services: [bills], port });
say({ serves: port });
