import type { MemoryStore } from '@assize/testing/memory';
import { desk } from '../domains/gateway/desk.ts';

const RULES = `id: team
default: allow
tools:
  bank/pay: { class: irreversible }
  crm/get: { class: read }
rules:
  - { id: large, ask: bank/pay, where: [{ path: /cents, min: 100 }] }
`;

/** Forty sessions: a look-up, and a payment that a person approves from 100 cents on. */
export async function minedDesk(): Promise<MemoryStore> {
  const made = await desk(RULES);
  for (let i = 0; i < 40; i++) {
    made.clock.forward(3_600_000);
    const session = { session: `s-${i}` };
    // One session looks up another order than the paid one.
    await made.call('ada', 'crm/get', { order: `o-${i === 30 ? 'x' : i}` }, session);
    const paid = await made.call(
      'ada',
      'bank/pay',
      { order: `o-${i}`, cents: 20 + i * 4 },
      session,
    );
    if (paid.ruling === 'escalated') await made.approve(paid);
  }
  await made.assize.close();
  return made.store;
}
