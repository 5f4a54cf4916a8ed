/** Why an order may be cancelled (policy.md, Cancel pending order). */
const REASONS: readonly string[] = ['no longer needed', 'ordered by mistake'];

export function isReason(text: string): boolean {
  return REASONS.includes(text);
}
