import { mayBeUnder } from './path-name.ts';

/** Files that hold keys, in any folder and in the home folder. */
export const SECRETS: readonly string[] = [
  ...[
    '.env',
    '.env.local',
    '.env.*.local',
    '.env.development',
    '.env.production',
    '.env.staging',
    '.env.test',
  ],
  ...['*.pem', 'id_rsa*', 'id_ed25519*', 'id_ecdsa*', '.git-credentials', '.netrc'],
];
export const HOME_SECRETS: readonly string[] = '.ssh .aws .config/gcloud .kube .gnupg .npmrc'.split(
  ' ',
);

/** Whether a path is a file that holds keys, or below a folder of them, by its names alone. */
export function isSecret(path: string): boolean {
  return [...SECRETS, ...HOME_SECRETS].some((name) => mayBeUnder(path, `**/${name}`));
}
