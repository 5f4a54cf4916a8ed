/** The maximum number of approvals that a proposal can require. */
export const APPROVALS_MAX = 8;
