/**
 * The parts of every command: its options, its session with the configuration and the store, its
 * output, and its errors. Packages add commands as features.
 *
 * Guarantees: text of others is printed visibly, and a store that a command opened is closed.
 */

export { visible, visibleJson } from 'assize/internal/views';
export { CliError, described, note, report, say } from './errors.ts';
export { EXIT, type ExitCode } from './exit-codes.ts';
export {
  type ExportedLog,
  type Feature,
  featuresInUse,
  operations,
  type Register,
  type StoreForm,
  storeFormOf,
  useFeatures,
} from './feature.ts';
export { isSystemFault, unreadable, unwritable } from './files/file-faults.ts';
export { makeFolder, requireWritable } from './files/folders.ts';
export {
  checked,
  type LinesFile,
  linesTo,
  openLines,
  parsedAt,
  readBytes,
  readJson,
  readLines,
  readText,
} from './files/input-file.ts';
export { cloneFolder, installedVersion, isInstalled } from './files/installed-package.ts';
export { badFile, importModule, isFile, lookedAt, whyOf } from './files/module-file.ts';
export {
  anchorsOption,
  between,
  configOption,
  count,
  domainOption,
  entryKeyOption,
  type KeyOptions,
  type OpeningOptions,
  positive,
  repeatable,
  share,
  signerOption,
  toolsOption,
  upTo,
  waitOption,
  withGroupOptions,
  withOpeningOptions,
  withoutStore,
  withSharedOptions,
} from './files/options.ts';
export { replaceFile } from './files/replace-file.ts';
export { writeNew, writeNewFile } from './files/write-file.ts';
export { type ActingIn, actingWrit } from './input/acting-writ.ts';
export { apiToken } from './input/api-token.ts';
export { ephemeralWrit, ephemeralWrits } from './input/ephemeral-writ.ts';
export { jsonFault, jsonOption } from './input/json-option.ts';
export {
  beginning,
  ending,
  INSTANT_HELP,
  instantOrAny,
  instantOrDay,
  instantText,
  periodOf,
  periodText,
} from './input/periods.ts';
export { ENTRY_HELP, entryNamed, POINT_HELP, placeIn, pointOf } from './input/points.ts';
export { keyOrRoot, noteUnanchored, readPrivateKey, requireAnchor } from './input/private-key.ts';
export { httpUrl, serverAddress, unanswered } from './input/server-address.ts';
export { isWritFile, readWritFile, STDIN, writeWritFile } from './input/writ-file.ts';
export { atOption, newNonce, type TermOptions, termsOf, withTerms } from './input/writ-terms.ts';
export {
  type AssertOptions,
  factAuthority,
  factRulingDocument,
  factRulingLine,
  memoryChangeOf,
  requirePredicate,
  spaceOption,
  validName,
  type WritOf,
  withFactAuthority,
} from './memory/assertions.ts';
export { isErasedText } from './memory/erased-text.ts';
export { printFacts, saidOf, shortened, shortFact } from './memory/fact-text.ts';
export {
  describeRefusedLines,
  printRefusedLines,
  type RefusedLines,
  refusedCount,
} from './memory/refused-lines.ts';
export { requireSpace, spacesWithFacts, unknownSpaceText } from './memory/unknown-space.ts';
export { type ActingOptions, withActingOptions } from './store/acting-options.ts';
export {
  anchorsPath,
  readAnchors,
  requireAnchored,
  requireAnchors,
  writeAnchors,
} from './store/anchors.ts';
export { domainsNamed, everyDomain, loadDomains, ownDomains } from './store/domains.ts';
export { ambiguous, entryAt, findEntry, headOf, isPrefix } from './store/entries.ts';
export { findWrit, writsIn } from './store/listed-writs.ts';
export { requireStoreFile } from './store/missing-store.ts';
export {
  type PolicyFiles,
  policyFrom,
  projectPolicy,
  ruleTableIn,
  warnOfUnknownActions,
} from './store/policies.ts';
export { onlyCounselor, project } from './store/project.ts';
export {
  type RecoveryKeyOptions,
  readRecoveryKey,
  recoveryKeyOption,
} from './store/recovery-key.ts';
export { replayerOf } from './store/replayer.ts';
export {
  anchoredRoot,
  requireLocal,
  requireRootKey,
  rootKeyInEnvironment,
  rootRecovery,
  SERVED,
} from './store/root-key.ts';
export {
  openAssize,
  projectOptions,
  readingAssize,
  runtimeKeys,
  withAssize,
} from './store/runtime.ts';
export {
  inSession,
  type Session,
  type SharedOptions,
  type StorelessOptions,
} from './store/session.ts';
export { loadTools, reportingWaits, untilStopped, whenEffectsFree } from './store/tools.ts';
export { watchedStore } from './store/watched-store.ts';
export { asksYes, canAsk } from './terminal/confirm.ts';
export { faultText } from './terminal/fault-text.ts';
export { helpOptions, listing, wrapHelp } from './terminal/help.ts';
export { Interrupted, listenForSignals, whileBlocked } from './terminal/interrupt.ts';
export { noOverrideText } from './terminal/no-override-text.ts';
export { isLong, outlineOf } from './terminal/outline.ts';
export {
  type Column,
  divertPrints,
  flushed,
  Output,
  OutputUnwritable,
  restorePrints,
  writeTo,
} from './terminal/output.ts';
export {
  bold,
  dim,
  green,
  line,
  Printable,
  printable,
  red,
  shownWords,
  type Value,
  yellow,
} from './terminal/printable.ts';
export { Progress } from './terminal/progress.ts';
export { callLines, findingLines, printRuling, rulingLine } from './terminal/ruling-text.ts';
export { shortJson, shortText } from './terminal/short-json.ts';
export { hidePasswordsIn, withoutPasswords } from './terminal/without-passwords.ts';
