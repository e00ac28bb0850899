/**
 * Offsets from UTC in minutes, for the zone names that feeds and pages write: those of RFC 822, and
 * those that are usual in Europe.
 */
const ZONES: Record<string, number> = {
  z: 0,
  utc: 0,
  gmt: 0,
  ut: 0,
  wet: 0,
  west: 60,
  bst: 60,
  cet: 60,
  mez: 60,
  met: 60,
  cest: 120,
  mesz: 120,
  mest: 120,
  eet: 120,
  eest: 180,
  msk: 180,
  est: -300,
  edt: -240,
  cst: -360,
  cdt: -300,
  mst: -420,
  mdt: -360,
  pst: -480,
  pdt: -420,
}

/**
 * Minutes east of UTC. Null for a name that is unknown or ambiguous; the outlet's own zone then
 * applies.
 */
export function zoneOffset(name: string): number | null {
  return ZONES[name.toLowerCase()] ?? null
}
