/** The names that a scaffold imports, in place of `assize` and `zod`, for a draft in its trial. */
export { defineDomain, escalate, pass, reject } from 'assize/internal/kernel';
export { z } from 'zod';
