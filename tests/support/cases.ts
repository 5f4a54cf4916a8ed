/**
 * Number of cases that a property is tried on: its usual number, or in proportion to
 * `ASSIZE_CASES`. That variable sets the number of the largest property (its usual number is
 * 2,000).
 */
export function cases(usual: number): number {
  const wanted = Number(process.env['ASSIZE_CASES'] ?? 2_000);
  if (!Number.isSafeInteger(wanted) || wanted < 1) throw new Error('ASSIZE_CASES must be a whole number from 1');
  return Math.max(1, Math.ceil((usual * wanted) / 2_000));
}
