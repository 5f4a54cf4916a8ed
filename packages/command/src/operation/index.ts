/**
 * The parts of operations of the HTTP API. A package declares its operations with them, and the
 * server answers them. Nothing here imports an HTTP library.
 *
 * Guarantees: an operation acts with its caller's authority alone, and its request was checked.
 */

export {
  type AuthorisedRequest,
  agentWrit,
  callerTrajectory,
  entryNamed,
  headOf,
  requireOwnName,
  tagsOfStates,
} from './access.ts';
export {
  awaitDecision,
  CHECK_MS,
  settledRuling,
  type Wait,
  type Waiting,
} from './await-decision.ts';
export { type Caller, isOfKind, sameAsOneOf } from './caller.ts';
export { ServerError, type ServerErrorCode } from './errors.ts';
export {
  amounts,
  badCursor,
  callForm,
  committedForm,
  digits,
  documentForm,
  domainRefForm,
  escalatedForm,
  factForm,
  fileForm,
  findingForm,
  flag,
  frozenForm,
  hash,
  instant,
  interruptForm,
  json,
  name,
  next,
  observationsForm,
  PAGE_DEFAULT,
  page,
  patchForm,
  rejectedForm,
  roleForm,
  rulingForm,
  shownRulingForm,
  time,
  writForm,
} from './forms.ts';
export { type JudgementDocument, judgementDocument, judgementForm } from './judgements.ts';
export {
  ADMINS,
  ANYBODY,
  type Answer,
  type Declare,
  INTERRUPTS,
  type Method,
  type Operation,
  operationsOf,
  READERS,
  type Request,
} from './operation.ts';
export { proposeOnce } from './propose-once.ts';
export { peerAddress, publicAddress, signInLink } from './public-address.ts';
export type { Service } from './service.ts';
export { type Both, diffView, placeView, stateView, valueAt } from './states.ts';
export { SERVER, SystemWrits } from './system-writs.ts';
export {
  COMMAND_LINE,
  isToken,
  makerOf,
  type TokenMaker,
  type TokenRow,
  Tokens,
} from './tokens.ts';
