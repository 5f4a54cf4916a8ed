/** How a reader checks a figure without this report: a command, and a request to a server. */
export interface Proof {
  readonly command: string;
  readonly api?: string;
}

/** Capital words stand for names and ids that a reader fills in. */
export const LIST_ENTRIES: Proof = {
  command: 'assize log TRAJECTORY',
  api: 'GET /v1/trajectories/{trajectory}/entries',
};
export const SHOW_ENTRY: Proof = { command: 'assize show ENTRY', api: 'GET /v1/entries/{entry}' };
export const LIST_WRITS: Proof = {
  command: 'assize writ show --in TRAJECTORY',
  api: 'GET /v1/trajectories/{trajectory}/writs',
};
export const LIST_EFFECTS: Proof = { command: 'assize effects list --all', api: 'GET /v1/effects' };
export const LIST_PENDING: Proof = { command: 'assize pending', api: 'GET /v1/approvals' };
export const BLAST_RADIUS: Proof = { command: 'assize blast --entry ENTRY', api: 'POST /v1/blast' };
export const LIST_RESPONSES: Proof = { command: 'assize log incidents', api: 'GET /v1/incidents' };
export const HALT: Proof = {
  command: 'assize halt TRAJECTORY',
  api: 'POST /v1/trajectories/{trajectory}/halt',
};
/** The proof bundle of one decision, and of all decisions of one person. */
export const BUNDLE_DECISION: Proof = {
  command: 'assize bundle --approval ENTRY --out FILE',
  api: 'GET /v1/bundles',
};
export const BUNDLE_PERSON: Proof = {
  command: 'assize bundle --person NAME --out FILE',
  api: 'GET /v1/bundles',
};
export const VERIFY: Proof = { command: 'assize verify', api: 'POST /v1/verify' };
export const COMPARE_CHECKPOINTS: Proof = {
  command: 'assize verify --checkpoint OLD --checkpoint NEW',
  api: 'GET /v1/checkpoints/latest',
};
export const CHECK_STORE: Proof = { command: 'assize verify --database', api: 'GET /v1/export' };
