/** The domain of the tour's vendors: an agent orders, and remembers what it was told of vendors. */
import { z } from 'zod';
import { defineDomain } from '#kernel';

const id = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
const cents = z.int().min(1).max(100_000_000);

export const vendors = defineDomain({
  name: 'vendors',
  version: '1',
  state: z.object({
    /** Cents ordered, by vendor. */
    ordered: z.record(id, cents),
  }),
  initial: { ordered: {} },
  processes: { ordering: { writes: ['/ordered/{vendor}'] } },
  roles: { Buyer: { params: ['vendor'], processes: ['ordering'] } },
  actions: {
    order: {
      process: 'ordering',
      args: z.object({ item: id, cents }),
      apply: (state, { cents }, { role: { vendor } }) => {
        state.ordered[vendor] = (state.ordered[vendor] ?? 0) + cents;
      },
    },
  },
  invariants: [],
  memory: {
    predicates: {
      account: {
        cardinality: 'single-valued',
        strategy: 'evi',
        description: 'the bank account that is paid. Of two, the more confident source wins',
      },
      contact: { cardinality: 'single-valued', strategy: 'lww', description: 'the person who takes orders' },
      supplies: { cardinality: 'multi-valued', strategy: 'lww' },
    },
  },
});
