import {
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'

/** A certificate with its key, as PEM, as servers of tests use it. */
export interface Certified {
  certificate: string
  key: string
  x509: X509Certificate
  name: string
}

export interface CertificateOptions {
  name: string
  /** Null: it signs itself. */
  issuer: Certified | null
  authority?: boolean
  /** IPv4 addresses and names that it is valid for. */
  hosts?: string[]
  /** Where the issuer's certificate can be read (RFC 5280 §4.2.2.1). */
  issuerAt?: string
  until?: Date
  /** RSA keys serve old ciphers. */
  rsa?: boolean
}

/** Writes X.509 certificates (RFC 5280) in DER: Node reads them, but writes none. */
export function certify(options: CertificateOptions): Certified {
  const { publicKey, privateKey } =
    options.rsa === true
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuerKey = options.issuer === null ? privateKey : createPrivateKey(options.issuer.key)
  const algorithm = signatureOf(issuerKey)
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    nameOf(options.issuer?.name ?? options.name),
    sequence(
      time(new Date('2020-01-01T00:00:00Z')),
      time(options.until ?? new Date('2049-01-01T00:00:00Z')),
    ),
    nameOf(options.name),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensionsOf(options))),
  )
  const der = sequence(body, algorithm, bits(sign('sha256', body, issuerKey)))
  // An empty line would end the certificate.
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  const certificate = [
    '-----BEGIN CERTIFICATE-----',
    ...lines,
    '-----END CERTIFICATE-----',
    '',
  ].join('\n')
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { certificate, key, x509: new X509Certificate(certificate), name: options.name }
}

function extensionsOf({ authority = false, hosts = [], issuerAt }: CertificateOptions): Buffer[] {
  const extension = (oid: string, value: Buffer) => sequence(object(oid), tagged(0x04, value))
  const extensions = [
    extension('2.5.29.19', sequence(...(authority ? [tagged(0x01, Buffer.from([0xff]))] : []))),
  ]
  if (hosts.length > 0) extensions.push(extension('2.5.29.17', sequence(...hosts.map(hostName))))
  if (issuerAt !== undefined) {
    const access = sequence(object('1.3.6.1.5.5.7.48.2'), tagged(0x86, Buffer.from(issuerAt)))
    extensions.push(extension('1.3.6.1.5.5.7.1.1', sequence(access)))
  }
  return extensions
}

function hostName(host: string): Buffer {
  if (host === '::1') return tagged(0x87, Buffer.from([...Array(15).fill(0), 1]))
  return /^[\d.]+$/.test(host)
    ? tagged(0x87, Buffer.from(host.split('.').map(Number)))
    : tagged(0x82, Buffer.from(host))
}

const signatureOf = (key: KeyObject) =>
  key.asymmetricKeyType === 'rsa'
    ? sequence(object('1.2.840.113549.1.1.11'), Buffer.from([5, 0]))
    : sequence(object('1.2.840.10045.4.3.2'))

const nameOf = (name: string) =>
  sequence(tagged(0x31, sequence(object('2.5.4.3'), tagged(0x0c, Buffer.from(name)))))

const time = (date: Date) =>
  tagged(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`))

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: Buffer[]) => tagged(0x30, Buffer.concat(parts))
const integer = (value: Buffer) => tagged(0x02, value)
const bits = (value: Buffer) => tagged(0x03, Buffer.concat([Buffer.from([0]), value]))

function object(oid: string): Buffer {
  const [first = 0, second = 0, ...rest] = oid.split('.').map(Number)
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const digits = [value & 0x7f]
  for (let left = value >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80)
  return digits
}
