/** Whether a file is a rules file of the gateway domain by its name. */
export function isRulesFile(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}
