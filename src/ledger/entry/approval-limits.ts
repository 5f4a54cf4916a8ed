/** Most people whose approval one proposal can take. */
export const APPROVALS_MAX = 8;
