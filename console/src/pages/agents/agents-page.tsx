/** x */
export function AgentsPage() {
  return null;
}
