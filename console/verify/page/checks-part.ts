import { CHECKS, type Check, type Findings } from '../bundle/findings.ts';
import { counted, element, section } from './element.ts';

/** The noun of each check, and the property that it shows, of one and of many. */
const WORDS: Readonly<Record<Check, readonly [string, string, string, string?]>> = {
  files: ['file', 'files', 'as the manifest states, by size and SHA-256'],
  entries: [
    'entry',
    'entries',
    'in canonical form, and named by the hash of its text',
    'in canonical form, and named by the hashes of their texts',
  ],
  values: [
    'value',
    'values',
    'stored outside of entries, with its hash, size and salt',
    'stored outside of entries, with their hashes, sizes and salts',
  ],
  proofs: [
    'inclusion proof',
    'inclusion proofs',
    'that leads to the root of the checkpoint (RFC 9162)',
    'that lead to the root of the checkpoint (RFC 9162)',
  ],
  checkpoint: ['checkpoint', 'checkpoints', 'signed by the key of the log'],
  cosignatures: ['witness', 'witnesses', 'that cosigned the checkpoint'],
  signatures: [
    'signature of an entry',
    'signatures of entries',
    'under the key of its trajectory',
    'under the keys of their trajectories',
  ],
  rules: [
    'entry',
    'entries',
    'by the rules of the chain, with its neighbours here',
    'by the rules of the chain, with their neighbours here',
  ],
  decisions: [
    'decision',
    'decisions',
    'about exactly the proposal that it names, by its digest',
    'about exactly the proposals that they name, by their digests',
  ],
  writs: ['writ', 'writs', 'signed by its issuer', 'signed by their issuers'],
  records: ['record', 'records', 'derived again from the entries, without a difference'],
  trees: ['tree', 'trees', 'of the export, with the root of a checkpoint'],
  consistency: [
    'proof of consistency',
    'proofs of consistency',
    'that the log continues the earlier checkpoint (RFC 9162)',
  ],
};

/** The checks of a bundle. */
export const OF_BUNDLE: readonly Check[] = CHECKS.filter(
  (check) => check !== 'trees' && check !== 'consistency',
);
/** The checks of an export, with or without checkpoints. */
export const OF_EXPORT: readonly Check[] = CHECKS.filter(
  (check) => !['files', 'proofs', 'records'].includes(check),
);
/** The checks of checkpoints alone. */
export const OF_CHECKPOINT: readonly Check[] = ['checkpoint', 'cosignatures', 'consistency'];

/** All that was checked, with counts. */
export function checksPart(findings: Findings, checks: readonly Check[] = OF_BUNDLE): HTMLElement {
  const rows = checks.map((check) => {
    const count = findings.countOf(check);
    const [one, many, ofOne, ofMany = ofOne] = WORDS[check];
    const name = counted(count, one, many);
    return element(
      'tr',
      count === 0 ? { class: 'dim' } : {},
      element('th', { scope: 'row' }, count === 0 ? `no ${one}` : name),
      element('td', {}, count === 0 ? '' : count === 1 ? ofOne : ofMany),
    );
  });
  return section('Checked', element('table', { class: 'checks' }, element('tbody', {}, ...rows)));
}
