import type { Authority } from '#kernel';

/** Permits everything to every principal: for tests that are not about authority. */
export const ANYONE: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};
