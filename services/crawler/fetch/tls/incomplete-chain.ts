import { X509Certificate } from 'node:crypto'
import { TLSSocket } from 'node:tls'
import { RequestFailure } from '../request-failure.ts'

/**
 * The host sends its own certificate without those that link it to an authority. Browsers fetch the
 * missing ones from the addresses that the certificate names.
 */
export class IncompleteChain extends RequestFailure {
  override name = 'IncompleteChain'
  readonly certificate: X509Certificate

  constructor(certificate: X509Certificate, cause: unknown) {
    super('tls', 'the host does not send all certificates of its chain', cause)
    this.certificate = certificate
  }
}

const MISSING_ISSUER = new Set([
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
])

/**
 * Notes the certificate of a connection, for the case that it is refused. Node destroys a refused
 * connection at once, and its certificate with it, so it is read just before that.
 *
 * @returns turns the error of this connection into an `IncompleteChain` if it is one
 */
export function noteCertificate(socket: unknown): (error: Error) => Error {
  let certificate: Buffer | undefined
  if (socket instanceof TLSSocket) {
    // Not `getPeerX509Certificate`: after it Node does not find the certificate for its own checks.
    socket.prependOnceListener('secure', () => {
      certificate = socket.getPeerCertificate().raw
    })
  }
  return error =>
    certificate !== undefined && 'code' in error && MISSING_ISSUER.has(String(error.code))
      ? new IncompleteChain(new X509Certificate(certificate), error)
      : error
}
