/** The codes of section 7 of docs/reference/proof-bundle.md. */
export type BundleFaultCode =
  | 'bad_zip'
  | 'bad_manifest'
  | 'file_differs'
  | 'bad_form'
  | 'bad_entry'
  | 'bad_writ'
  | 'context_missing'
  | 'bad_checkpoint'
  | 'not_logged'
  | 'other_key'
  | 'not_witnessed'
  | 'scope_differs'
  | 'keys_differ'
  | 'records_differ';

/** The first fault that was found in a bundle. */
export interface BundleFault {
  readonly code: BundleFaultCode;
  readonly detail: string;
}

/** Ends a verification. `verifyBundle` returns its fault. */
export class BundleRefusal extends Error {
  readonly fault: BundleFault;

  constructor(code: BundleFaultCode, detail: string) {
    super(detail);
    this.fault = { code, detail };
  }
}

/** @throws BundleRefusal unless it holds */
export function must(holds: boolean, code: BundleFaultCode, detail: string): asserts holds {
  if (!holds) throw new BundleRefusal(code, detail);
}
