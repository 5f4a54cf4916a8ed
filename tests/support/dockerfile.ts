import { readFileSync } from 'node:fs';

/** A step of a Dockerfile: its word, and the rest of its line. */
export interface DockerStep {
  readonly word: string;
  readonly rest: string;
}

export function stepsOfDockerfile(file: string): DockerStep[] {
  return readFileSync(file, 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, word = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
      return { word, rest };
    });
}
