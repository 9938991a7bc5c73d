package rowferry;

import com.informix.jdbcx.IfxPAMChallenge;
import com.informix.jdbcx.IfxPAMResponse;
import com.informix.jdbcx.PAM;
import com.informix.jdbcx.PAMResponseImpl;

/** Answers the questions of a server with PAM by the system properties {@code answer.1}, {@code answer.2} and so on. */
public final class Answers implements PAM {
    private static int asked;

    @Override
    public IfxPAMResponse pamChallenge(IfxPAMChallenge challenge) {
        asked++;
        System.err.println("asked: " + challenge.getChallenge());
        IfxPAMResponse response = new PAMResponseImpl();
        response.setResponse(System.getProperty("answer." + asked, ""));
        response.setTerminateConnection(false);
        return response;
    }
}
