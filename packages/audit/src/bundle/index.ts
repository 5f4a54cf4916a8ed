/**
 * Proof bundles: zip files with entries, their context, and all that shows offline that they are in
 * the log (docs/reference/proof-bundle.md).
 */
export { type Bundle, type BundleOptions, makeBundle } from './bundle.ts';
export type { BundleFault, BundleFaultCode } from './fault.ts';
export { BUNDLE_ENTRIES_MAX } from './form.ts';
export type { BundleScope } from './scope.ts';
export { type BundleVerdict, type VerifyBundleOptions, verifyBundle } from './verify-bundle.ts';
